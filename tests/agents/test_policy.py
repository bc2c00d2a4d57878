from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from clalfred.agents.acting.heuristics import ActionHeuristics, EpisodeTrace
from clalfred.agents.acting.policy import Policy, PolicyState
from clalfred.agents.demonstrations import without_goal
from clalfred.agents.vision.encoder import CachedEncoder
from gym_clalfred.actions import Action
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.objects import ObjectClass
from gym_clalfred.wrappers import TokenizedObservation
from tests.helpers.acting import FakeEncoder, fake_agent, make_learner

MakeEnv = Callable[..., ClAlfredEnv]


def some_observations(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    words = Tokenizer.default().words
    return [
        {
            "rgb": rng.integers(0, 256, (5, 16, 16, 3), dtype=np.uint8),
            "goal": " ".join(words[30 + row : 34 + row]),
            "instructions": "\n".join([" ".join(words[50 : 60 + 9 * row])] * (1 + row % 3)),
        }
        for row in range(count)
    ]


def logits_after(policy: Policy, rows: list[int], steps: int = 3) -> dict[int, torch.Tensor]:
    observations = some_observations(12)
    chosen = [observations[row] for row in rows]
    states: PolicyState = tuple(policy.start(one) for one in chosen)
    for _ in range(steps):
        _, states = policy.act(chosen, states)
    parts = {}
    for row, state in zip(rows, states):
        assert state.decision is not None
        parts[row] = torch.cat([state.decision.action_logits, state.state["hidden"][:, 0]], 1)
    return parts


def test_what_is_thought_of_an_episode_is_bit_equal_whatever_runs_beside_it() -> None:
    policy = Policy(fake_agent(), ActionHeuristics.off())
    together = logits_after(policy, list(range(12)))
    for rows in ([0], [11, 4], [9, 3, 2], list(range(11, -1, -1))):
        for row, logits in logits_after(policy, rows).items():
            assert torch.equal(logits, together[row])


def test_evaluate_policy_of_sb3_runs_the_agent(make_fake_env: MakeEnv) -> None:
    def make() -> TokenizedObservation:
        return TokenizedObservation(make_fake_env(max_steps=6), max_tokens=64)

    agent = make_learner()
    env = DummyVecEnv([make, make])
    rewards, lengths = evaluate_policy(
        agent, env, n_eval_episodes=4, return_episode_rewards=True, warn=False
    )
    assert len(rewards) == len(lengths) == 4
    assert all(1 <= length <= 7 for length in lengths)


def test_predict_takes_one_observation_or_many(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    observation, _ = env.reset(seed=0)
    agent = make_learner()
    action, state = agent.predict(observation)
    assert action.shape == (2,)
    assert env.action_space.contains(action)
    many = {
        name: [part, part] if isinstance(part, str) else np.stack([part, part])
        for name, part in observation.items()
    }
    actions, states = agent.predict(many, episode_start=np.array([True, True]))
    assert actions.tolist() == [action.tolist()] * 2
    assert len(state) == 1
    assert len(states) == 2


def test_a_state_lasts_until_an_episode_starts() -> None:
    agent = make_learner(heuristics=ActionHeuristics.off())
    observation = some_observations(1)[0]
    first, state = agent.predict(observation)
    _, later = agent.predict(observation, state)
    assert not torch.equal(later[0].state["hidden"], state[0].state["hidden"])
    again, fresh = agent.predict(observation, later, episode_start=np.array([True]))
    assert again.tolist() == first.tolist()
    assert torch.equal(fresh[0].state["hidden"], state[0].state["hidden"])


def test_drawn_actions_vary_and_depend_on_the_seed_only() -> None:
    def draw(seed: int) -> list[list[int]]:
        agent = make_learner(heuristics=ActionHeuristics.off())
        agent.generator.manual_seed(seed)
        observation = some_observations(1)[0]
        return [agent.predict(observation, deterministic=False)[0].tolist() for _ in range(20)]

    assert draw(1) == draw(1)
    assert len({action[0] for action in draw(1)}) > 3


def test_interactions_name_a_class_and_other_actions_none() -> None:
    agent = make_learner(heuristics=ActionHeuristics.off())
    for observation in some_observations(12):
        (action, target), _ = agent.predict(observation, deterministic=False)
        assert (target > 0) == Action(action).is_interaction


def test_the_goal_can_be_left_unread() -> None:
    tokenizer = Tokenizer.default()
    tokens = tokenizer.encode("put a mug away", ["turn left", "pick up the mug"])
    instructions = without_goal(tokens)
    assert tokenizer.decode([2, *instructions])[1] == ("turn left", "pick up the mug")
    assert len(instructions) < len(tokens)
    observation = some_observations(1)[0]
    both = Policy(fake_agent()).tokens(observation)
    only = Policy(fake_agent(reads_goal=False)).tokens(observation)
    assert len(only) < len(both)


def test_missing_words_and_missing_pictures_are_named() -> None:
    policy = Policy(fake_agent())
    with pytest.raises(BadInputError, match="neither 'tokens' nor 'instructions'"):
        policy.tokens({"rgb": np.zeros(1)})
    with pytest.raises(BadInputError, match="lacks rgb, which the agent looks at"):
        policy.predict({"goal": "", "instructions": ""})


def test_views_of_the_wrong_size_are_refused_with_the_right_one() -> None:
    with pytest.raises(BadInputError, match="image_size=16"):
        FakeEncoder().encode(np.zeros((2, 20, 20, 3), dtype=np.uint8))


class CountingEncoder(FakeEncoder):
    encoded = 0

    def encode(self, views: np.ndarray) -> torch.Tensor:
        self.encoded += len(views)
        return super().encode(views)


def test_a_remembering_encoder_gives_the_same_maps_and_forgets_the_oldest() -> None:
    views = np.random.default_rng(1).integers(0, 256, (9, 16, 16, 3), dtype=np.uint8)
    counting = CountingEncoder()
    remembering = CachedEncoder(counting, views=4)
    rounds = [([0, 1, 1], 2), ([1, 0, 2, 3], 2), ([3, 2, 0], 0), ([4], 1), ([0, 2, 3], 0), ([1], 1)]
    for rows, new in rounds:
        before = counting.encoded
        assert torch.equal(remembering.encode(views[rows]), FakeEncoder().encode(views[rows]))
        assert counting.encoded - before == new, rows
    assert torch.equal(remembering.encode(views), FakeEncoder().encode(views))
    copy = pickle.loads(pickle.dumps(remembering))
    assert torch.equal(copy.encode(views[:3]), FakeEncoder().encode(views[:3]))


FRONT = np.zeros((4, 4, 3), dtype=np.uint8)
MUG = ObjectClass.Mug


def scores_for(*ranking: Action) -> np.ndarray:
    scores = np.zeros(len(Action), dtype=np.float32)
    for place, action in enumerate(ranking):
        scores[action] = 10 - place
    return scores


def choose(helpers: ActionHeuristics, scores: np.ndarray, **given: Any) -> Action:
    classes, trace = given.get("classes"), given.get("trace", EpisodeTrace())
    return helpers.choose(scores, MUG, FRONT, classes, trace)[0]


def test_an_unseen_target_is_looked_for_by_the_likelier_rotation() -> None:
    scores = scores_for(Action.PickupObject, Action.MoveAhead, Action.RotateRight)
    unseen = np.zeros((4, 4), dtype=np.uint8)
    seen = np.full((4, 4), int(MUG), dtype=np.uint8)
    assert choose(ActionHeuristics(), scores, classes=unseen) is Action.RotateRight
    assert choose(ActionHeuristics(), scores, classes=seen) is Action.PickupObject
    assert choose(ActionHeuristics.off(), scores, classes=unseen) is Action.PickupObject


def test_an_action_that_changed_nothing_is_not_repeated() -> None:
    scores = scores_for(Action.MoveAhead, Action.RotateLeft)
    helpers = ActionHeuristics(vary_if_looping=False)
    action, trace = helpers.choose(scores, MUG, FRONT, None, EpisodeTrace())
    assert action is Action.MoveAhead
    assert choose(helpers, scores, trace=trace) is Action.RotateLeft
    assert choose(ActionHeuristics.off(), scores, trace=trace) is Action.MoveAhead
    moved = helpers.choose(scores, MUG, FRONT + 1, None, trace)[0]
    assert moved is Action.MoveAhead


def test_a_loop_is_left_by_another_navigation_action() -> None:
    scores = scores_for(Action.RotateLeft, Action.Stop, Action.LookUp)
    helpers = ActionHeuristics(vary_if_still=False)
    trace = EpisodeTrace()
    taken = []
    for step in range(24):
        front = np.full((4, 4, 3), step % 6, dtype=np.uint8)
        action, trace = helpers.choose(scores, MUG, front, None, trace)
        taken.append(action)
    # Views repeat with period 6: the first run of ten that lies wholly before the last ten, and
    # equals it, begins at step 0 and is repeated at steps 12 to 21.
    assert taken[:21] == [Action.RotateLeft] * 21
    assert taken[21] is Action.LookUp
