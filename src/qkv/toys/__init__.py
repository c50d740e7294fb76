"""Small worlds to train on, and the one loop that trains on them."""

from collections.abc import Callable

import torch


def train(
    model: torch.nn.Module,
    loss: Callable[[], torch.Tensor],
    steps: int,
    lr: float,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
) -> list[float]:
    """Take some steps downhill.

    Parameters
    ----------
    model : Module
        Its parameters are changed in place.
    loss : callable, () -> scalar Tensor
        Computed afresh at each step.
    steps : int
    lr : float
        Learning rate.
    optimizer : torch.optim.Optimizer class

    Returns
    -------
    list of float
        The loss before each step.
    """
    downhill = optimizer(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        downhill.zero_grad()
        value = loss()
        value.backward()
        downhill.step()
        losses.append(value.item())
    return losses
