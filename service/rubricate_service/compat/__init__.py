"""Routes with the shapes that trainers already speak; responses that come one by one meet in groups."""
