//! What a cloud has of a server.

crate::words! {
    /// planned → made ⇄ hibernated, until the row is removed with the server.
    pub enum ServerState {
        /// Chosen and saved. The cloud may have been asked for it.
        Planned = "planned",
        /// The cloud has said that it exists.
        Made = "made",
        /// Its cluster is stopped: nothing of it runs, and its disk stays.
        Hibernated = "hibernated",
    }
}
