//! Clusters of several servers in a world without processes: what the engine
//! does through crashes, lost replies, slow and stale reads and changes of
//! mind, at every step and by chance from a seed.

mod agent;
mod crash_points;
mod dice;
mod ends;
mod explorer;
mod gate;
mod gated;
mod ground;
mod hands;
mod lagging;
mod min_isr;
mod plane;
mod renewal;
mod resize_points;
mod resize_stories;
mod resizes;
mod rolls;
mod sim;
mod sleepers;
mod steps;
mod stops;
mod unresponsive;
