//! Clusters of hosts that keep virtual disks on their drives together, after vSAN's original storage architecture.
//!
//! A virtual disk lies on components as an array lies on its members ([`crate::array::Array`]): copies, or data and
//! parity, each on another host. A request to a component goes over the network to its host, through that host's
//! processors, and to its disk group. There a write is complete when it is in the write buffer, on the group's first
//! drive; it is destaged later to the drive that holds the component. Reads come from that drive, or from the buffer as
//! long as it has the data.
//!
//! Not modeled: a read cache in front of disks, checksums, deduplication, several disk groups of a host, the network's
//! switches, and repair on other hosts.

mod components;
mod disk_group;
mod host;
mod host_store;
mod object_store;
mod op_shards;
mod placement;
mod rebuilds;
mod storage_cluster;
#[cfg(test)]
mod tests;
mod trips;

pub use storage_cluster::Cluster;
