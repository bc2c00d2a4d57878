"""Pictures of a room: meshes, camera, rasteriser and shading."""
