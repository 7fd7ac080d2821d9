//! What packets pass through: links with their queues and transmitters, processors, and the paths from
//! node to node.

pub mod background;
pub mod changes;
pub mod fabric;
pub mod letter;
pub mod link;
pub mod lookahead;
pub mod loss;
pub mod meter;
pub mod node;
pub mod processor;
pub mod queue;
pub mod routing;
pub mod saturation;
pub mod server;
pub mod sources;
pub mod spraying;
pub mod topology;
pub mod wire;
