//! Options of fio's job files, each with what its value may be.
//!
//! The table has every option and alias of fio 3.23 to 3.42; `fio-options.tsv` lists them. An option that is not in it is
//! refused: a later fio may give it any effect.

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionKind {
    /// Numbers and words.
    Plain,
    /// Numbers with slashes between them: `4k/60:64k/40`.
    Shares,
    /// Bytes, as a number or in double quotes; a name in single quotes would be a file's.
    Pattern,
    /// For people, or without an effect; fio does not get it.
    Description,
    /// Part of names of files.
    JobName,
    /// Names of files, with colons between them.
    Files,
    /// Names of directories, with colons between them.
    Directories,
    /// A name of a file with placeholders.
    NameFormat,
    /// What the name of a file begins with that fio writes.
    Output,
    Engine,
    /// Where buffers lie; some can be a file.
    Memory,
    /// Why.
    Refused(&'static str),
}

struct OptionGroup {
    kind: OptionKind,
    /// With spaces between them.
    names: &'static str,
}

const GROUPS: &[OptionGroup] = &[
    OptionGroup {
        kind: OptionKind::Plain,
        names: "allow_file_create allrandrepeat atomic ba block_error_percentiles blockalign blocksize \
            blocksize_range blocksize_unaligned bs bs_is_seq_rand bs_unaligned bsrange buffer_compress_chunk \
            buffer_compress_percentage buffered bwavgtime clat_percentiles clocksource cmdprio cmdprio_class \
            cmdprio_percentage comm continue_on_error cpuchunks cpuload cpumask cpumode cpus_allowed \
            cpus_allowed_policy create_fsync create_on_open create_only create_serialize data_placement \
            dataplacement dedupe_global dedupe_mode dedupe_percentage dedupe_working_set_percentage direct \
            disable_bw disable_bw_measurement disable_clat disable_lat disable_slat disk_util do_verify \
            end_fsync end_syncfs error_dump exit_on_io_done exit_what exitall exitall_on_error \
            experimental_verify fadvise_hint fallocate fdatasync fdp fdp_pli fdp_pli_select file_append \
            file_service_type fileoffset filesize fill_device fill_fs fixedbufs flow flow_id flow_sleep \
            flow_watermark force_async fsync fsync_on_close group_reporting gtod_cpu gtod_reduce hipri \
            hipri_percentage hugepage-size ignore_error ignore_zone_limits invalidate io_limit io_size \
            io_submit_mode iodepth iodepth_batch iodepth_batch_complete iodepth_batch_complete_max \
            iodepth_batch_complete_min iodepth_batch_submit iodepth_low iomem_align iopsavgtime \
            job_max_open_zones job_start_clock_id kb_base lat_percentiles latency_percentile latency_run \
            latency_target latency_window libaio_vectored lockfile lockmem log_alternate_epoch \
            log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus log_entries \
            log_hist_coarseness log_hist_msec log_issue_time log_max_value log_offset log_prio \
            log_store_compressed log_unix_epoch log_window_value loops max_latency max_open_zones mem_align \
            new_group nice nonvectored norandommap nowait nr_files nrfiles num_range numa_cpu_nodes \
            numa_mem_policy number_ios numjobs offset offset_align offset_increment openfiles overwrite \
            per_job_logs percentage_random percentage_sequential percentile_list plid_select plids pre_read \
            prio prioclass priohint ramp_size ramp_time random_generator random_sequence_stride randrepeat \
            randseed rate rate_cycle rate_ignore_thinktime rate_iops rate_iops_min rate_min rate_process \
            ratecycle ratemin read_beyond_wp readfua readwrite recover_zbd_write_error refill_buffers \
            registerfiles runtime rw rw_sequencer rwmixcycle rwmixread rwmixwrite scramble_buffers \
            serialize_overlap significant_figures size slat_percentiles softrandommap spr_cs spr_num_regions \
            spr_op sprandom sqthread_poll sqthread_poll_cpu ss ss_dur ss_interval ss_ramp startdelay \
            stat_type stats steadystate steadystate_check_interval steadystate_duration \
            steadystate_ramp_time stonewall sync sync_file_range thinkcycles thinktime thinktime_blocks \
            thinktime_blocks_type thinktime_iotime thinktime_spin thp thread time_based timeout trim_backlog \
            trim_backlog_batch trim_percentage trim_verify_zero uncached unified_rw_reporting \
            unique_filename unit_base unlink unlink_each_loop userspace_reap verify verify_async \
            verify_async_cpus verify_backlog verify_backlog_batch verify_dump verify_fatal \
            verify_header_seed verify_interval verify_offset verify_only verify_pattern_interval \
            verify_policy verify_state_load verify_state_save verify_write_sequence verifysort verifysort_nr \
            wait_for_previous write_barrier write_hint write_zone_remainder writefua zero_buffers \
            zone_reset_frequency zone_reset_threshold zonecapacity zonemode zonerange zonesize zoneskip",
    },
    OptionGroup {
        kind: OptionKind::Shares,
        names: "bssplit cmdprio_bssplit random_distribution",
    },
    OptionGroup {
        kind: OptionKind::Pattern,
        names: "buffer_pattern verify_pattern",
    },
    OptionGroup {
        kind: OptionKind::Description,
        // A profile's: without one fio takes `threads` and does nothing.
        names: "description threads",
    },
    OptionGroup {
        kind: OptionKind::JobName,
        names: "name wait_for",
    },
    OptionGroup {
        kind: OptionKind::Files,
        names: "filename",
    },
    OptionGroup {
        kind: OptionKind::Directories,
        names: "directory",
    },
    OptionGroup {
        kind: OptionKind::NameFormat,
        names: "filename_format",
    },
    OptionGroup {
        kind: OptionKind::Output,
        names: "write_bw_log write_hist_log write_iolog write_iops_log write_lat_log",
    },
    OptionGroup {
        kind: OptionKind::Engine,
        names: "ioengine",
    },
    OptionGroup {
        kind: OptionKind::Memory,
        names: "iomem mem",
    },
    OptionGroup {
        kind: OptionKind::Refused("it starts a program"),
        names: "arguments exec_postrun exec_prerun grace_time program std_redirect",
    },
    OptionGroup {
        kind: OptionKind::Refused("it takes orders or names of files from another file"),
        names: "dp_scheme merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars opendir read_iolog \
            read_iolog_chunked replay_align replay_no_stall replay_redirect replay_scale replay_skip \
            replay_time_scale",
    },
    OptionGroup {
        kind: OptionKind::Refused("it changes settings of this machine"),
        names: "cgroup cgroup_nodelete cgroup_weight ioscheduler",
    },
    OptionGroup {
        kind: OptionKind::Refused("fio runs as the user that started plimsoll"),
        names: "gid uid",
    },
    OptionGroup {
        kind: OptionKind::Refused("it takes away a protection of devices"),
        names: "allow_mounted_write filetype",
    },
    OptionGroup {
        kind: OptionKind::Refused("a profile makes jobs of its own"),
        names: "block device-names dir large-block-op-kbytes load numruns prep profile read-req-num-512-blocks \
            test-duration threads-per-queue",
    },
    OptionGroup {
        kind: OptionKind::Refused("its I/O engine is not supported"),
        names: "apptag apptag_mask bindname brick busy_poll busy_wait_polling cdb_len chunck_size chunk_size \
            clientname clustername cmd_type conf cont cuda_io deac direct_write_to_pmem donorname dummy \
            gpu_dev_id gpu_dev_ids hdfs_use_direct hdfsdirectory hostname http_host http_mode \
            http_object_mode http_pass http_s3_key http_s3_keyid http_s3_region http_s3_security_token \
            http_s3_sse_customer_algorithm http_s3_sse_customer_key http_s3_storage_class \
            http_swift_auth_token http_user http_verbose https initiator inplace interface libblkio_driver \
            libblkio_force_enable_completion_eventfd libblkio_num_entries libblkio_path \
            libblkio_pre_connect_props libblkio_pre_start_props libblkio_queue_size libblkio_vectored \
            libblkio_wait_mode libblkio_write_zeroes_on_trim listen md_per_io_size mss namenode nfs_url \
            no_completion_thread nodelay object_class pi_act pi_chk pingpong pool port proto protocol \
            rbd_encryption_format rbd_encryption_passphrase rbdname read_mode rocm_io serverip sg_write_mode \
            single-instance single_instance skip_bad stream_id svcl touch_objects ttl uri verb verify_bytchk \
            verify_mode volume window_size write_mode xnvme_admin xnvme_async xnvme_be xnvme_dev_nsid \
            xnvme_dev_subnqn xnvme_iovec xnvme_mem xnvme_sync",
    },
];

/// The kind of an option of any of these versions; names are as exact as fio takes them.
pub(super) fn option_kind(name: &str) -> Option<OptionKind> {
    let is_in = |group: &&OptionGroup| group.names.split_whitespace().any(|known| known == name);
    GROUPS.iter().find(is_in).map(|group| group.kind)
}

/// I/O engines that only read and write named files, or use none.
pub(super) const ENGINES: &[&str] = &[
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "io_uring",
    "libaio",
    "linuxaio",
    "aio",
    "posixaio",
    "mmap",
    "splice",
    "null",
    "cpuio",
    "falloc",
    "ftruncate",
];

/// I/O engines that make and remove files: only of a job file that names nothing elsewhere.
pub(super) const NAME_ENGINES: &[&str] = &[
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
];

/// Values of `mem` that are no file.
pub(super) const MEMORY: &[&str] = &["malloc", "shm", "shmhuge", "mmap", "mmapshared"];

#[cfg(test)]
pub(super) fn option_names() -> impl Iterator<Item = &'static str> {
    GROUPS
        .iter()
        .flat_map(|group| group.names.split_whitespace())
}
