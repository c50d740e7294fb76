# %% wrong: reshaped at once
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, heads, T, d // heads)


# %% wrong: not moved in front
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads)


# %% wrong: columns dealt out like cards
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, d // heads, heads).permute(0, 3, 1, 2)


# %% wrong: moved too far, positions last
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).permute(0, 2, 3, 1)


# %% wrong: heads in front of the batch
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1))


# %% wrong: heads taken for their width
def split_heads(x, heads):
    return torch.stack(x.split(heads, dim=-1), dim=1)


# %% wrong: positions cut instead of columns
def split_heads(x, heads):
    B, T, d = x.shape
    return x.transpose(1, 2).reshape(B, heads, T, d // heads)


# %% wrong: a list of heads
def split_heads(x, heads):
    return list(x.chunk(heads, dim=-1))


# %% wrong: every head gets all columns
def split_heads(x, heads):
    return x.unsqueeze(1).expand(-1, heads, -1, -1)


# %% wrong: view after the transpose
def split_heads(x, heads):
    B, T, d = x.shape
    return x.transpose(1, 2).view(B, heads, d // heads, T).transpose(2, 3)[0]


# %% wrong: a width of 4 hard-coded
def split_heads(x, heads):
    B, T, _ = x.shape
    return x.reshape(B, T, -1, 4).transpose(1, 2)


# %% wrong: always three heads
def split_heads(x, heads):
    a, b, c = x.chunk(3, dim=-1)
    return torch.stack([a, b, c], dim=1)


# %% wrong: five positions hard-coded
def split_heads(x, heads):
    B = x.shape[0]
    return x.reshape(B, 5, heads, -1).transpose(1, 2)


# %% wrong: sequence 0 for the whole batch
def split_heads(x, heads):
    B, T, d = x.shape
    d_k = d // heads
    out = x.new_zeros(B, heads, T, d_k)
    for h in range(heads):
        for t in range(T):
            out[:, h, t] = x[0, t, h * d_k:(h + 1) * d_k]
    return out


# %% wrong: the loop stops before the last head
def split_heads(x, heads):
    B, T, d = x.shape
    d_k = d // heads
    out = x.new_zeros(B, heads, T, d_k)
    for h in range(0, heads - 1):
        out[:, h] = x[:, :, h * d_k:(h + 1) * d_k]
    return out


# %% wrong: squeeze drops dimensions of 1
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1).squeeze()


# %% wrong: divides by √d_k already
def split_heads(x, heads):
    B, T, d = x.shape
    d_k = d // heads
    x = x.reshape(B, T, heads, d_k).transpose(1, 2)
    return x / d_k ** 0.5


# %% wrong: index -h: heads 0, last, …, 1
def split_heads(x, heads):
    parts = x.chunk(heads, dim=-1)
    return torch.stack([parts[-h] for h in range(heads)], dim=1)


# %% wrong: stacked, then reshaped: batch and heads mix
def split_heads(x, heads):
    B, T, d = x.shape
    parts = torch.cat(x.chunk(heads, dim=-1), dim=0)
    return parts.reshape(B, heads, T, d // heads)


# %% wrong: the loop stops before the last sequence
def split_heads(x, heads):
    B, T, d = x.shape
    out = torch.zeros(B, heads, T, d // heads, dtype=x.dtype)
    for b in range(B - 1):
        for h, part in enumerate(x[b].chunk(heads, dim=-1)):
            out[b, h] = part
    return out


# %% right: view and permute
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).permute(0, 2, 1, 3)


# %% right: chunks on top of one another
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


# %% right: a loop over slices
def split_heads(x, heads):
    B, T, d = x.shape
    width = d // heads
    out = x.new_zeros(B, heads, T, width)
    for h in range(heads):
        out[:, h] = x[:, :, h * width : (h + 1) * width]
    return out


# %% right: positions last, then cut, then back
def split_heads(x, heads):
    B, T, d = x.shape
    columns = x.mT.contiguous().view(B, heads, d // heads, T)
    return columns.mT


# %% right: unfold cuts windows of columns
def split_heads(x, heads):
    d_k = x.shape[-1] // heads
    return x.unfold(-1, d_k, d_k).permute(0, 2, 1, 3)


# %% right: an index for every column
def split_heads(x, heads):
    columns = torch.arange(x.shape[-1]).reshape(heads, -1)
    return x[:, :, columns].swapaxes(1, 2)


# %% right: einsum moves the axes
def split_heads(x, heads):
    B, T, _ = x.shape
    return torch.einsum("bthd->bhtd", x.view(B, T, heads, -1)).contiguous()
