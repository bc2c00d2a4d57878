"""Settings of the two-branch agent."""

from __future__ import annotations

from dataclasses import dataclass

from clalfred.agents.agent import AgentConfig

#: The action branch and the class branch; the same shape, separate weights.
BRANCHES = 2


@dataclass(frozen=True)
class TwoBranchConfig(AgentConfig):
    """Sizes of the network; the defaults are the paper's.

    Args:
        vocabulary: number of words, padding included; 0 for the tokenizer's.
        channels: channels of a view's feature map; 0 for the encoder's.
        cells: cells of a view's feature map, 7 x 7; 0 for the encoder's.
        views: views per step.
        word_dim: word embedding.
        language_dim: Bi-LSTM, per direction; the decoder has twice as many units.
        attention_dim: keys and queries.
        filters: dynamic filters, shared by all views.
        action_dim: embedding of the previous action, and of the action head.
        action_hidden: hidden layer of the action head.
        class_hidden: hidden layer of the class head.
        dropout: on visual features and decoder states.
        previous_class_dim: embedding of the previously chosen class; 0, the paper's, for none.
        steps: instructions that are told apart by an embedding of their number, added to their
            words; 0, the paper's, for none.
        class_reads_input: whether the class head reads the decoder's input besides its state, as
            the action head does; the paper's does not.
        visual_bottleneck_dim: units of a layer between the filters' responses and the decoder; 0,
            the paper's, for none: the decoder gets the responses themselves.
        attention_gain: factor on the scores of the attention over the words; 1, the paper's, looks
            at all of them alike for long.
        filter_gain: factor on the responses of the filters; 1, the paper's, suits ResNet's maps.
    """

    vocabulary: int = 0
    channels: int = 0
    cells: int = 0
    views: int = 5
    word_dim: int = 100
    language_dim: int = 512
    attention_dim: int = 128
    filters: int = 5
    action_dim: int = 100
    action_hidden: int = 1024
    class_hidden: int = 512
    dropout: float = 0.3
    previous_class_dim: int = 0
    steps: int = 0
    class_reads_input: bool = False
    visual_bottleneck_dim: int = 0
    attention_gain: float = 1.0
    filter_gain: float = 1.0

    @classmethod
    def paper(cls) -> TwoBranchConfig:
        """The paper's network on ResNet-18 maps, 43 million parameters."""
        return cls(encoder="resnet-18", portable=False)

    @classmethod
    def small(cls) -> TwoBranchConfig:
        """The same shape, sized for minutes on two cores."""
        return cls(
            batch_size=8,
            learning_rate=3e-3,
            encoder="conv",
            word_dim=48,
            language_dim=64,
            attention_dim=32,
            filters=3,
            action_dim=32,
            action_hidden=128,
            class_hidden=128,
            dropout=0.0,
            previous_class_dim=32,
            steps=16,
            class_reads_input=True,
            visual_bottleneck_dim=64,
            attention_gain=4.0,
            filter_gain=4.0,
        )

    @property
    def decoder_dim(self) -> int:
        """Units of the decoder, which starts from a sum of Bi-LSTM features."""
        return 2 * self.language_dim

    @property
    def visual_dim(self) -> int:
        """Responses of the dynamic filters per step."""
        return self.views * self.filters * self.cells

    @property
    def seen_dim(self) -> int:
        """What the decoder gets of them."""
        return self.visual_bottleneck_dim or self.visual_dim

    @property
    def input_dim(self) -> int:
        """Input of the decoder per step."""
        return self.seen_dim + self.decoder_dim + self.action_dim + self.previous_class_dim
