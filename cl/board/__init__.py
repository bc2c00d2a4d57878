"""Submissions that anybody can check: action logs, a replay of them, and a page of the results."""
