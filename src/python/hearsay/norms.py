"""Running statistics of a model's batch norms, and how far the shared ones are from the model's own."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

# Each norm's means and variances, by the name of its module.
Statistics = dict[str, tuple[torch.Tensor, torch.Tensor]]

_FAR_DEVIATIONS = 1.0  # distance of the means in deviations, averaged over a norm's channels, that is far
_FAR_RATIO = 4.0  # ratio of the variances that is far; its logarithm is averaged over a norm's channels


def statistics_of(norms: Iterable[tuple[str, torch.nn.Module]]) -> Statistics:
    """Returns copies of the running statistics of these modules, on the CPU as float64."""
    return {name: (_copied(norm.running_mean), _copied(norm.running_var)) for name, norm in norms}


def _copied(values: torch.Tensor) -> torch.Tensor:
    return values.detach().to("cpu", torch.float64, copy=True)


def farthest(before: Statistics, now: Statistics) -> str:
    """Returns the name of the norm whose statistics have moved farthest from `before` to `now`, if they
    have moved far, otherwise ""."""
    found, most = "", 1.0
    for name, (means, variances) in before.items():
        far = _distance(means, variances, *now[name])
        if far > most or math.isnan(far):
            found, most = name, far
    return found


def _distance(
    means: torch.Tensor, variances: torch.Tensor, means_now: torch.Tensor, variances_now: torch.Tensor
) -> float:
    """Returns the distance between two statistics of one norm; above 1 is far. NaN if one of them is."""
    least = torch.finfo(torch.float32).tiny
    deviations = (means_now - means).abs() / variances.clamp(min=least).sqrt()
    ratios = (variances_now.clamp(min=least) / variances.clamp(min=least)).log().abs()
    parts = deviations.mean() / _FAR_DEVIATIONS, ratios.mean() / math.log(_FAR_RATIO)
    return float(torch.stack(parts).max())  # the maximum of a tensor with NaN is NaN
