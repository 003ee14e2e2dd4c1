//! Clusters of hosts that keep virtual disks on their drives together, after vSAN's original storage architecture and
//! after Ceph.
//!
//! An object (of vSAN a virtual disk or a part of it, of Ceph a placement group) lies on components as an array lies on
//! its members ([`crate::array::Array`]): copies, or data and parity, each on another host. A request goes to the host
//! that coordinates its object: of vSAN the host that uses the virtual disk, of Ceph the first that has a copy, over the
//! network. A request to a component goes over the network to its host, through that host's processors, and to what
//! stores its data.
//!
//! vSAN: a write is complete when it is in the write buffer, on the first drive of a disk group; it is destaged later to
//! the drive that holds the component. Reads come from that drive, or from the buffer as long as it has the data. Before
//! disks 70 % of a first drive of another kind are a read cache.
//!
//! Ceph: a write is complete when the object store of the component's drive has committed it. Reads come from the first
//! copy.
//!
//! Not modeled: checksums, deduplication, the network's switches; of Ceph also erasure coding, caches, compaction of the
//! key-value store, and the time in which a failure is noticed.

mod components;
mod disk_group;
mod host;
mod host_store;
mod object_store;
mod op_shards;
mod placement;
mod read_cache;
mod rebuilds;
mod storage_cluster;
mod store_event;
#[cfg(test)]
mod tests;
mod trips;

pub use storage_cluster::Cluster;
