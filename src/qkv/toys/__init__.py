"""Small worlds to train on, and the one loop that trains on them."""

import torch


def train(model, loss, steps, lr, optimizer=torch.optim.Adam):
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
    optimizer = optimizer(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses
