//! From a checked file to the model's figures. What is not stated is derived; what cannot be is assumed, and stated here.

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::cluster::ClusterSpec;
use plimsoll_plan::read_toml;
use plimsoll_plan::units::{Bytes, Nanos};

use crate::amplification::amplification;

use super::figure::{SpecFigure, number};
use super::file::{CacheKind, Disk, DriveClass, DriveFile, Flash, OtherDrive, Volume};
use super::{
    DiskSpec, DriveSpec, FlashSpec, Latency, Mechanism, SheetPoint, Stated, VolumeSpec, Watts,
    WriteCache,
};

/// 99th percentile ÷ median where a file gives none: what reads of TLC flash at depth 1 are like.
const READ_TAIL: f64 = 2.0;
/// The same for writes, which end in memory.
const WRITE_TAIL: f64 = 3.0;

/// `file` has been checked.
pub(super) fn resolve(id: &str, file: DriveFile) -> DriveSpec {
    let mechanism = match (&file.flash, &file.disk, &file.volume) {
        (_, Some(disk), _) => Mechanism::Disk(disk_spec(&file, disk)),
        (_, _, Some(of)) => Mechanism::Volume(volume_spec(of)),
        (of, _, _) => Mechanism::Flash(flash(&file, &of.clone().unwrap_or_default())),
    };
    let write_cache = match file.write_cache.value {
        CacheKind::Protected | CacheKind::None => WriteCache::Protected,
        CacheKind::Volatile => WriteCache::Volatile,
    };
    let capacity_gb = file.capacity_gb.value;
    let years = value(&file.endurance.years);
    let dwpd = value(&file.endurance.dwpd);
    let of_dwpd = dwpd
        .zip(years)
        .map(|(dwpd, years)| dwpd * capacity_gb / 1e3 * 365.0 * years);
    let capacity = Bytes((capacity_gb * 1e9) as u64);
    let assembly = file.assembly();
    let drives = assembly.as_ref().map(|_| drives(id, &file));
    let drives = drives.unwrap_or_default();
    DriveSpec {
        id: id.to_owned(),
        title: title(&file, &drives),
        capacity: match &assembly {
            None => capacity,
            Some(of) => Bytes(of.usable(least_capacity(of, &drives))),
        },
        write_cache,
        kind: file.kind,
        // A data sheet is about one drive.
        stated: match &assembly {
            None => stated(&file),
            Some(_) => Vec::new(),
        },
        assembly,
        drives,
        watts: watts(&file),
        tbw: value(&file.endurance.tbw).or(of_dwpd),
        years,
        mechanism,
        slower: file.slower.unwrap_or(1.0),
        file,
    }
}

/// Of an array or a cluster, in turn.
fn drives(id: &str, file: &DriveFile) -> Vec<DriveSpec> {
    let first = DriveFile {
        array: None,
        cluster: None,
        other_drives: Vec::new(),
        ..file.clone()
    };
    let slower = file.slower;
    let other = |own: &OtherDrive| {
        let file: DriveFile = read_toml(&own.file).expect("a checked file");
        resolve(&own.id, DriveFile { slower, ..file })
    };
    let others = file.other_drives.iter().map(other);
    std::iter::once(resolve(id, first)).chain(others).collect()
}

/// Of the drives with data: of larger ones the rest is not used.
fn least_capacity(assembly: &DriveAssembly, drives: &[DriveSpec]) -> u64 {
    let turns = (0..assembly.turns()).filter(|turn| assembly.holds_data(*turn));
    let drive = |turn: u32| drives.get(turn as usize).or(drives.last());
    let capacities = turns.filter_map(drive).map(|own| own.capacity.0);
    capacities.min().unwrap_or_default()
}

/// `6 × Good as RAID 5, 20 times slower`.
fn title(file: &DriveFile, drives: &[DriveSpec]) -> String {
    let title = match file.assembly() {
        None => file.title.clone(),
        Some(DriveAssembly::Array(array)) => array_title(drives, &array),
        Some(DriveAssembly::Cluster(cluster)) => cluster_title(drives, &cluster),
    };
    match file.slower {
        None | Some(1.0) => title,
        Some(times) => format!("{title}, {} times slower", number(times)),
    }
}

/// `5 × Good`, `Good + 4 × Better`: so many drives.
fn drives_title(drives: &[DriveSpec], count: u32) -> String {
    let mut kinds: Vec<(&str, u32)> = Vec::new();
    for turn in 0..count {
        let drive = drives.get(turn as usize).or(drives.last());
        let name = drive.map_or("", |own| own.file.title.as_str());
        match kinds.last_mut().filter(|(last, _)| *last == name) {
            Some((_, of_kind)) => *of_kind += 1,
            None => kinds.push((name, 1)),
        }
    }
    let is_one = kinds.len() == 1;
    let kinds = kinds.into_iter().map(|(name, count)| match count {
        1 if !is_one => name.to_owned(),
        _ => format!("{count} × {name}"),
    });
    kinds.collect::<Vec<_>>().join(" + ")
}

fn array_title(drives: &[DriveSpec], array: &ArraySpec) -> String {
    let drives = drives_title(drives, array.members);
    let mut title = format!("{drives} as {}", array.level.title());
    let parts = [
        (array.bitmap.is_some(), "a bitmap"),
        (array.journal.is_some(), "a journal"),
        (array.cache.is_some(), "a cache"),
    ];
    let parts = parts.iter().filter(|(is_there, _)| *is_there);
    let parts: Vec<&str> = parts.map(|(_, part)| *part).collect();
    if !parts.is_empty() {
        title.push_str(&format!(" with {}", parts.join(" and ")));
    }
    if let Some(network) = array.network {
        title.push_str(&format!(" behind {} Gbit/s", network.gbit));
    }
    title + &missing(&array.failed, array.rebuilding())
}

fn cluster_title(drives: &[DriveSpec], cluster: &ClusterSpec) -> String {
    let of = cluster.title();
    let policy = cluster.policy_title();
    let drives = if drives.len() == 1 || cluster.groups == 1 {
        drives_title(drives, cluster.drives)
    } else {
        let of_group = drives_title(drives, cluster.group_drives());
        format!("{} × ({of_group})", cluster.groups)
    };
    let title = format!("{of} with {drives}, {policy}");
    title + &missing(&cluster.failed, cluster.rebuild)
}

/// Members that are not what they should be, as the end of a title.
fn missing(failed: &[u32], rebuild: Option<u32>) -> String {
    let gone = failed.iter().filter(|own| rebuild != Some(**own));
    let failed: Vec<String> = gone.map(u32::to_string).collect();
    let mut text = match failed.is_empty() {
        true => String::new(),
        false => format!(" without {}", failed.join(", ")),
    };
    if let Some(member) = rebuild {
        text.push_str(&format!(", {member} being rebuilt"));
    }
    text
}

fn value(figure: &Option<SpecFigure>) -> Option<f64> {
    figure.as_ref().map(|figure| figure.value)
}

fn value_or(figure: &Option<SpecFigure>, default: f64) -> f64 {
    value(figure).unwrap_or(default)
}

fn us(value: f64) -> Nanos {
    Nanos((value * 1e3).round() as u64)
}

fn ms(value: f64) -> Nanos {
    us(value * 1e3)
}

fn ns_per_byte(mb_s: f64) -> f64 {
    1e3 / mb_s
}

/// A latency less the parts that are modelled apart from it. The tail is theirs as well: it is not shortened.
fn less(median: f64, p99: f64, parts: f64) -> Latency {
    let median = Nanos((median - parts).max(100.0) as u64);
    Latency {
        median,
        p99: Nanos((p99 - parts).max(100.0) as u64).max(median),
    }
}

pub(super) fn flash(file: &DriveFile, flash: &Flash) -> FlashSpec {
    let sheet = &file.datasheet;
    let read_mb_s = value_or(&sheet.sequential_read_mb_s, 1.0);
    let write_mb_s = value_or(&sheet.sequential_write_mb_s, 1.0);
    let read_iops = value_or(&sheet.random_read_iops, 1.0);
    let write_iops = value_or(&sheet.random_write_iops, 1.0);
    let interface = value_or(&flash.interface_mb_s, read_mb_s.max(write_mb_s)).max(write_mb_s);
    let read_command = 1e9 / read_iops;
    let write_command = 1e9 / read_iops.max(write_iops);
    let read_ns_per_byte = ns_per_byte(read_mb_s);
    let write_ns_per_byte = ns_per_byte(interface);
    let read_us = value_or(&flash.read_us, 100.0);
    let write_us = value_or(&flash.write_us, 100.0);
    let firmware = value_or(&flash.firmware_us, 0.0) * 1e3;
    let media = less(
        read_us * 1e3,
        value_or(&flash.read_p99_us, read_us * READ_TAIL) * 1e3,
        read_command + 4096.0 * read_ns_per_byte + firmware,
    );
    let written = value_or(&sheet.written_share, 1.0);
    let physical_share = value_or(&flash.physical_share, 0.9);
    let block = sheet
        .random_write_iops
        .as_ref()
        .and_then(|figure| figure.block_kib)
        .unwrap_or(4.0)
        * 1024.0;
    let sequential_ns_per_byte = ns_per_byte(write_mb_s);
    // A data sheet of a fresh drive states the cost without the copying that a full one has to do.
    let to_full = amplification(physical_share) / amplification(physical_share * written);
    FlashSpec {
        half_duplex: file.kind == DriveClass::Sata,
        media,
        firmware: Nanos(firmware as u64),
        acknowledge: less(
            write_us * 1e3,
            value_or(&flash.write_p99_us, write_us * WRITE_TAIL) * 1e3,
            write_command + 4096.0 * write_ns_per_byte,
        ),
        units: value(&flash.units).map_or_else(|| units(read_iops, media), |units| units as usize),
        program: us(value_or(&flash.program_us, 60.0)),
        read_command: Nanos(read_command.round() as u64),
        write_command: Nanos(write_command.round() as u64),
        read_ns_per_byte,
        write_ns_per_byte,
        sequential_ns_per_byte,
        random_ns_per_byte: 1e9 / write_iops / block * to_full,
        folded_ns_per_byte: value(&flash.folded_write_mb_s)
            .map_or(sequential_ns_per_byte, ns_per_byte),
        slc: Bytes((value_or(&flash.slc_gb, 0.0) * 1e9) as u64),
        buffer: Bytes((value_or(&flash.buffer_mb, 16.0) * 1e6) as u64),
        physical_share,
        flush: us(value_or(&flash.flush_us, 10.0)),
        trim: us(value_or(&flash.trim_us, 20.0)),
    }
}

/// Enough units that 128 reads in flight do not wait for each other more than the command processing makes them. With
/// N in flight over M equal servers chosen at random a closed network does M·N/(M+N−1) at once (Lazowska et al.,
/// Quantitative System Performance, 1984, balanced job bounds); half of what that allows is wanted.
fn units(read_iops: f64, media: Latency) -> usize {
    let busy = read_iops * media.median.as_secs_f64();
    [16, 32, 64, 128, 256, 512]
        .into_iter()
        .find(|units| *units as f64 * 128.0 / (*units as f64 + 127.0) > busy * 1.5)
        .unwrap_or(1024)
}

fn disk_spec(file: &DriveFile, disk: &Disk) -> DiskSpec {
    let outer = value_or(
        &disk.outer_mb_s,
        value_or(&file.datasheet.sequential_read_mb_s, 100.0),
    );
    let average = value_or(&disk.seek_average_ms, 8.5);
    DiskSpec {
        turn: Nanos((60e9 / value_or(&disk.rpm, 7200.0)) as u64),
        seek_track: ms(value_or(&disk.seek_track_ms, (average / 8.0).min(1.0))),
        seek_average: ms(average),
        seek_full: ms(value_or(&disk.seek_full_ms, average * 2.0)),
        outer_ns_per_byte: ns_per_byte(outer),
        // The bytes of a track follow its length; the inner tracks of 3.5-inch disks are half as long as the outer.
        inner_ns_per_byte: ns_per_byte(value_or(&disk.inner_mb_s, outer / 2.0)),
        interface_ns_per_byte: ns_per_byte(value_or(&disk.interface_mb_s, 300.0).max(outer)),
        command: us(value_or(&disk.command_us, 100.0)),
        queue: value_or(&disk.queue, 32.0) as usize,
        buffer: Bytes((value_or(&disk.buffer_mb, 16.0) * 1e6) as u64),
        buffers_writes: file.write_cache.value != CacheKind::None,
    }
}

fn volume_spec(volume: &Volume) -> VolumeSpec {
    let mib = f64::from(1 << 20);
    VolumeSpec {
        ns_per_io: 1e9 / value_or(&volume.iops, 1.0),
        ns_per_byte: 1e9 / (value_or(&volume.mib_s, 1.0) * mib),
        unit: ((value_or(&volume.unit_kib, 256.0) * 1024.0) as u64).max(512),
        burst_ios: value_or(&volume.burst_ios, 1.0),
        burst_bytes: value_or(&volume.burst_mib, 1.0) * mib,
        read: volume_latency(&volume.read_us, &volume.read_p99_us),
        write: volume_latency(&volume.write_us, &volume.write_p99_us),
        flush: us(value_or(&volume.flush_us, 0.0)),
    }
}

fn volume_latency(median: &Option<SpecFigure>, p99: &Option<SpecFigure>) -> Latency {
    let median = value_or(median, 1.0);
    Latency {
        median: us(median),
        p99: us(value_or(p99, median * 2.0)),
    }
}

fn stated(file: &DriveFile) -> Vec<Stated> {
    let sheet = &file.datasheet;
    [
        (SheetPoint::SequentialRead, &sheet.sequential_read_mb_s),
        (SheetPoint::SequentialWrite, &sheet.sequential_write_mb_s),
        (SheetPoint::RandomRead, &sheet.random_read_iops),
        (SheetPoint::RandomWrite, &sheet.random_write_iops),
    ]
    .into_iter()
    .filter_map(|(point, figure)| Some(stated_at(point, figure.as_ref()?, file)))
    .collect()
}

fn stated_at(point: SheetPoint, figure: &SpecFigure, file: &DriveFile) -> Stated {
    let is_sequential = point.is_sequential();
    let block_kib = figure
        .block_kib
        .unwrap_or(if is_sequential { 128.0 } else { 4.0 });
    let depth = figure
        .depth
        .unwrap_or(if is_sequential { 32.0 } else { 128.0 });
    let unit = if is_sequential { 1e6 } else { 1.0 };
    Stated {
        point,
        value: figure.value * unit / file.slower.unwrap_or(1.0),
        block: (block_kib * 1024.0) as u64,
        depth: depth as u32,
        fill: value_or(&file.datasheet.written_share, 1.0),
    }
}

fn watts(file: &DriveFile) -> Option<Watts> {
    let idle = value(&file.power.idle_w)?;
    let write = value(&file.power.write_w).unwrap_or(idle);
    Some(Watts {
        idle,
        read: value(&file.power.read_w).unwrap_or(write),
        write,
    })
}
