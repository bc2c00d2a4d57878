"""What every object class looks like, how large it is and where it holds things."""
