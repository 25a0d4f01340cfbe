"""What stands between the network and the routes: who asks, how much, how fast, and what was asked before."""
