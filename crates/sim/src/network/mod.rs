//! What packets pass through: links with their queues and transmitters, and the way from node to node.

pub mod fabric;
pub mod link;
pub mod queue;
pub mod server;
pub mod topology;
