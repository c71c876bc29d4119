"""The model folder: the published checkpoint, and the int8 folder that is prepared from it once."""
