//! A VFS of SQLite (vfs.html) whose files take the time of a modeled drive.
//!
//! It stands before SQLite's own VFS, which keeps the contents in real files and the locks. What a call costs, and which
//! requests it makes the drive do, passes in virtual time where the caller runs in a fiber; elsewhere (a load, a check) it takes
//! none. Nothing is synced for real: the contents need not survive a failure of this machine.
//!
//! Methods are those of version 2: without memory mapping, so that each page that is used is seen. Names of the C functions are
//! SQLite's (c3ref/vfs.html, c3ref/io_methods.html), and so is what they promise.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use plimsoll_drive::emulate::Lost;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::WaitState;
use rusqlite::ffi;
use rusqlite::ffi::{sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use crate::costs::CpuUse;
use crate::drive::VirtualDrive;
use crate::durable::{ChangeLog, MountPower};

use crate::fiber;
use crate::filesystem::{NoSpace, VirtualFilesystem};
use crate::machine::{VirtualMachine, Wait};
use crate::mount::{MountState, PowerIsOff, lock};
use crate::page_cache::{FileId, PAGE};
use crate::random::splitmix64;

/// What [`VirtualMount::name`] begins with.
const PREFIX: &str = "plimsoll-virtual-";

/// The Julian day of 1970-01-01, in milliseconds (c3ref/vfs.html: xCurrentTimeInt64).
const UNIX_EPOCH_JULIAN_MS: i64 = 210_866_760_000_000;
/// What the machine's clock shows at its beginning: 2026-01-01, 00:00 UTC.
const FIRST_DAY_UNIX_MS: i64 = 1_767_225_600_000;

/// A drive of a machine with a filesystem, as SQLite sees it: a VFS, under a name of its own.
#[derive(Debug)]
pub struct VirtualMount(Arc<MountState>);

/// SQLite's own VFS.
#[derive(Debug, Clone, Copy)]
struct RealVfs(NonNull<sqlite3_vfs>);

// SAFETY: SQLite's own VFS is a constant table that lives as long as the process, and its functions may be called from any
// thread (threadsafe.html).
unsafe impl Send for RealVfs {}
// SAFETY: as above.
unsafe impl Sync for RealVfs {}

/// Found once: it is always there.
fn real_vfs() -> Option<RealVfs> {
    static REAL: OnceLock<Option<RealVfs>> = OnceLock::new();
    *REAL.get_or_init(|| {
        // SAFETY: a null name asks for the default; SQLite initializes itself.
        let real = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        NonNull::new(real).map(RealVfs)
    })
}

/// All mounts, by name.
static MOUNTS: Mutex<BTreeMap<String, Weak<MountState>>> = Mutex::new(BTreeMap::new());

impl VirtualMount {
    /// Registers the VFS. `memory` is for the page cache (`None`: enough for everything); `seed` decides about random names and
    /// salts.
    pub fn new(
        machine: Arc<VirtualMachine>,
        drive: Arc<VirtualDrive>,
        capacity: Bytes,
        memory: Option<Bytes>,
        seed: u64,
    ) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("{PREFIX}{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let state = Arc::new(MountState {
            name: CString::new(name.clone()).map_err(|error| error.to_string())?,
            machine,
            drive,
            filesystem: Mutex::new(VirtualFilesystem::new(capacity, memory)),
            random: Mutex::new(seed),
            temporary_files: AtomicU64::new(0),
            power: MountPower::default(),
        });
        let table = table(&state).ok_or("SQLite has no VFS")?;
        // SAFETY: the table is complete and lives as long as the process.
        match unsafe { ffi::sqlite3_vfs_register(table.as_ptr(), 0) } {
            ffi::SQLITE_OK => {}
            code => return Err(format!("SQLite refuses a VFS (code {code})")),
        }
        lock(&MOUNTS).insert(name, Arc::downgrade(&state));
        Ok(Self(state))
    }

    pub fn drive(&self) -> &VirtualDrive {
        &self.0.drive
    }

    pub fn machine(&self) -> &VirtualMachine {
        &self.0.machine
    }

    /// From now on it is known what a power cut takes away. `lying`: the buffer of a drive that ignores flushes.
    pub fn watch_changes(&self, lying: Option<Bytes>) {
        self.0.power.watch(lying);
    }

    /// The power fails: files are what the drive holds of them, and whoever has one open gets errors. Returns what the drive
    /// had promised to keep. `seed` decides about what was under way.
    pub fn power_off(&self, seed: u64) -> std::io::Result<Lost> {
        let lost = self.0.power.fail(seed);
        self.0.drive.power_cycle();
        self.0.filesystem().drop_cache();
        lost
    }

    /// What was stored is gone: whoever uses a file gets errors.
    pub fn lose_data(&self) {
        self.0.power.lose_data();
        self.0.drive.power_cycle();
    }

    /// Memory is empty.
    pub fn power_on(&self) {
        self.0.power.restore();
    }

    /// For `sqlite3_open_v2`.
    pub fn name(&self) -> &str {
        self.0.name.to_str().unwrap_or_default()
    }
}

/// The machine of the mount that a VFS of this name is.
pub fn machine_of(name: &str) -> Option<Arc<VirtualMachine>> {
    let state = lock(&MOUNTS).get(name)?.upgrade()?;
    Some(state.machine.clone())
}

/// Files below this directory are to be read from the drive the next time.
pub fn forget_cached(name: &str, directory: &Path) {
    change_below(name, directory, VirtualFilesystem::forget_cached);
}

/// Files below this directory will be removed, which takes no time.
pub fn remove(name: &str, directory: &Path) {
    change_below(name, directory, VirtualFilesystem::remove);
}

fn change_below(name: &str, directory: &Path, change: fn(&mut VirtualFilesystem, &Path)) {
    let state = lock(&MOUNTS).get(name).and_then(Weak::upgrade);
    // SQLite has opened files by their full names.
    let full = directory.canonicalize();
    if let Some(state) = state {
        change(
            &mut state.filesystem(),
            full.as_deref().unwrap_or(directory),
        );
    }
}

impl Drop for VirtualMount {
    fn drop(&mut self) {
        lock(&MOUNTS).remove(self.name());
        // The state itself stays with the table.
        lock(&self.0.filesystem).drop_cache();
        // SAFETY: a name that ends with NUL. The table itself stays: a connection may still use it.
        let table = unsafe { ffi::sqlite3_vfs_find(self.0.name.as_ptr()) };
        // SAFETY: unregistering what is not registered does nothing (c3ref/vfs_find.html).
        unsafe { ffi::sqlite3_vfs_unregister(table) };
    }
}

/// The table that SQLite keeps. It is never freed, and owns a count of the state: connections may outlive the mount.
fn table(state: &Arc<MountState>) -> Option<NonNull<sqlite3_vfs>> {
    // SAFETY: SQLite's own table, see `RealVfs`.
    let real = unsafe { real_vfs()?.0.as_ref() };
    let table = sqlite3_vfs {
        iVersion: 2,
        szOsFile: real.szOsFile + REAL_FILE_AT as c_int,
        mxPathname: real.mxPathname,
        pNext: ptr::null_mut(),
        zName: state.name.as_ptr(),
        pAppData: Arc::into_raw(state.clone()).cast_mut().cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(get_last_error),
        xCurrentTimeInt64: Some(current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    };
    Some(NonNull::from(Box::leak(Box::new(table))))
}

/// A file of this VFS. SQLite allocates it, with that of its own VFS behind.
#[repr(C)]
struct VfsFile {
    base: sqlite3_file,
    /// Null until it is open.
    open: *mut OpenFile,
}

/// Aligned for any type, as SQLite's allocations are.
const REAL_FILE_AT: usize = size_of::<VfsFile>().next_multiple_of(8);

struct OpenFile {
    state: Arc<MountState>,
    id: FileId,
    name: String,
    deleted_on_close: bool,
    /// Created by this open: the first sync also syncs the directory, as SQLite does for journals (`UNIXFILE_DIRSYNC`).
    syncs_directory: bool,
}

const METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock_file),
    xUnlock: Some(unlock_file),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

static METHODS_TABLE: sqlite3_io_methods = METHODS;

/// # Safety
/// `vfs` is a table that [`table`] made.
unsafe fn state_of<'a>(vfs: *mut sqlite3_vfs) -> &'a MountState {
    // SAFETY: pAppData is a counted pointer to the state that is never given back.
    unsafe { &*(*vfs).pAppData.cast::<MountState>() }
}

/// # Safety
/// `file` is a [`VfsFile`] that SQLite has allocated with the size that [`table`] states.
unsafe fn real_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: the allocation holds both.
    unsafe { file.cast::<u8>().add(REAL_FILE_AT).cast() }
}

/// # Safety
/// `file` is an open [`VfsFile`].
unsafe fn open_file<'a>(file: *mut sqlite3_file) -> &'a mut OpenFile {
    // SAFETY: set by `open` and freed by `close`; SQLite calls no two methods of a file at a time.
    unsafe { &mut *(*file.cast::<VfsFile>()).open }
}

/// Calls a method of the real file.
macro_rules! real {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: the real file is open as long as the timed one, and SQLite's own VFS has all methods of version 2.
        unsafe {
            let real = real_file($file);
            match (*(*real).pMethods).$method {
                Some(method) => method(real $(, $argument)*),
                None => ffi::SQLITE_IOERR,
            }
        }
    }};
}

/// Calls a method of SQLite's own VFS.
macro_rules! real_vfs {
    ($method:ident $(, $argument:expr)*) => {{
        match real_vfs() {
            // SAFETY: the table of SQLite's own VFS is constant, see `RealVfs`; arguments are those that SQLite gave.
            Some(RealVfs(real)) => unsafe {
                match (*real.as_ptr()).$method {
                    Some(method) => method(real.as_ptr() $(, $argument)*),
                    None => ffi::SQLITE_ERROR,
                }
            },
            None => ffi::SQLITE_ERROR,
        }
    }};
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite has allocated szOsFile bytes for both files.
    unsafe {
        (*file).pMethods = ptr::null();
        (*file.cast::<VfsFile>()).open = ptr::null_mut();
        (*real_file(file)).pMethods = ptr::null();
    }
    // SAFETY: of `table`.
    let state = unsafe { state_of(vfs) };
    if state.power.is_off() {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: as SQLite gave it.
    let existed = !name.is_null() && unsafe { exists(name) };
    // SAFETY: as above.
    let real = unsafe { real_file(file) };
    let code = real_vfs!(xOpen, name, real, flags, out_flags);
    if code != ffi::SQLITE_OK {
        // SAFETY: a file that could not be opened is closed where it has methods (c3ref/vfs.html).
        if unsafe { !(*real).pMethods.is_null() } {
            real!(file, xClose);
        }
        return code;
    }
    let mut size = 0;
    if real!(file, xFileSize, &raw mut size) != ffi::SQLITE_OK {
        size = 0;
    }
    let path = match name.is_null() {
        true => {
            let number = state.temporary_files.fetch_add(1, Ordering::Relaxed);
            format!("temporary {number}")
        }
        // SAFETY: a name that ends with NUL.
        false => unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    };
    let id = state
        .filesystem()
        .open(&path, u64::try_from(size).unwrap_or(0));
    let Ok(id) = id else {
        real!(file, xClose);
        return ffi::SQLITE_FULL;
    };
    let deleted_on_close = name.is_null() || flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0;
    if !existed && !deleted_on_close {
        state.power.note(|log| log.created(&path));
    }
    // SAFETY: counted up for the file, which gives it back when it is closed.
    let state = unsafe {
        let counted: *const MountState = state;
        Arc::increment_strong_count(counted);
        Arc::from_raw(counted)
    };
    let journal =
        ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
    let open = Box::new(OpenFile {
        state,
        id,
        name: path,
        deleted_on_close,
        syncs_directory: !existed && flags & journal != 0,
    });
    // SAFETY: as above.
    unsafe {
        (*file.cast::<VfsFile>()).open = Box::into_raw(open);
        (*file).pMethods = &raw const METHODS_TABLE;
    }
    ffi::SQLITE_OK
}

/// # Safety
/// `name` ends with NUL.
unsafe fn exists(name: *const c_char) -> bool {
    let mut found = 0;
    let code = real_vfs!(xAccess, name, ffi::SQLITE_ACCESS_EXISTS, &raw mut found);
    code == ffi::SQLITE_OK && found != 0
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = real!(file, xClose);
    // SAFETY: set by `open`; SQLite closes a file once.
    let open = unsafe {
        (*file).pMethods = ptr::null();
        let timed = file.cast::<VfsFile>();
        Box::from_raw(ptr::replace(&raw mut (*timed).open, ptr::null_mut()))
    };
    if open.deleted_on_close {
        open.state.filesystem().delete(&open.name);
    }
    code
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    amount: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { open_file(file) };
    let (offset_bytes, len) = (offset.max(0) as u64, amount.max(0) as u64);
    fiber::charge(CpuUse::Read, 1.0);
    let requests = open.state.filesystem().read(open.id, offset_bytes, len);
    match open.state.perform(requests, WaitState::DataRead) {
        Ok(()) => real!(file, xRead, buffer, amount, offset),
        Err(PowerIsOff) => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    buffer: *const c_void,
    amount: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { open_file(file) };
    let state = &open.state;
    let (offset_bytes, len) = (offset.max(0) as u64, amount.max(0) as u64);
    fiber::charge(CpuUse::Write, 1.0);
    let requests = state
        .filesystem()
        .write(open.id, offset_bytes, len, state.now());
    let Ok(requests) = requests else {
        return ffi::SQLITE_FULL;
    };
    if let Err(PowerIsOff) = state.perform(requests, WaitState::DataRead) {
        return ffi::SQLITE_IOERR_WRITE;
    }
    note(file, open, |log, size, held| {
        let bytes = offset_bytes..offset_bytes + len;
        log.before_write(&open.name, bytes, size, held);
    });
    real!(file, xWrite, buffer, amount, offset)
}

/// Notes a change where a power cut would have to undo it; with the file's size, and what reads a page.
fn note(
    file: *mut sqlite3_file,
    open: &OpenFile,
    note: impl FnOnce(&mut ChangeLog, u64, &mut dyn FnMut(u64) -> Vec<u8>),
) {
    if open.deleted_on_close {
        return;
    }
    let mut held = |page: u64| {
        let mut held = vec![0; PAGE as usize];
        // A short read leaves zeroes behind the end (c3ref/io_methods.html).
        let start = (page * PAGE) as i64;
        real!(file, xRead, held.as_mut_ptr().cast(), PAGE as c_int, start);
        held
    };
    open.state.power.note(|log| {
        let mut size = 0;
        real!(file, xFileSize, &raw mut size);
        note(log, u64::try_from(size).unwrap_or(0), &mut held);
    });
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: i64) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { open_file(file) };
    fiber::charge(CpuUse::Write, 1.0);
    if open.state.power.is_off() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    let size_bytes = size.max(0) as u64;
    note(file, open, |log, size, held| {
        log.before_truncate(&open.name, size_bytes, size, held);
    });
    let truncated = open.state.filesystem().truncate(open.id, size_bytes);
    match truncated {
        Ok(()) => real!(file, xTruncate, size),
        Err(NoSpace) => ffi::SQLITE_FULL,
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { open_file(file) };
    fiber::charge(CpuUse::Sync, 1.0);
    match sync_all(open) {
        Ok(()) => ffi::SQLITE_OK,
        Err(PowerIsOff) => ffi::SQLITE_IOERR_FSYNC,
    }
}

fn sync_all(open: &mut OpenFile) -> Result<(), PowerIsOff> {
    let requests = open.state.filesystem().sync(open.id);
    open.state.make_durable(Some(&open.name), requests)?;
    if std::mem::take(&mut open.syncs_directory) {
        let requests = open.state.filesystem().sync_directory();
        open.state.make_durable(None, requests)?;
    }
    Ok(())
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut i64) -> c_int {
    real!(file, xFileSize, size)
}

unsafe extern "C" fn lock_file(file: *mut sqlite3_file, level: c_int) -> c_int {
    fiber::charge(CpuUse::Lock, 1.0);
    real!(file, xLock, level)
}

unsafe extern "C" fn unlock_file(file: *mut sqlite3_file, level: c_int) -> c_int {
    fiber::charge(CpuUse::Lock, 1.0);
    real!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, result: *mut c_int) -> c_int {
    real!(file, xCheckReservedLock, result)
}

unsafe extern "C" fn file_control(
    file: *mut sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    real!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    real!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    real!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    place: *mut *mut c_void,
) -> c_int {
    real!(file, xShmMap, page, size, extend, place)
}

unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    offset: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    fiber::charge(CpuUse::Lock, 1.0);
    real!(file, xShmLock, offset, n, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: as in `real!`; this method returns nothing.
    unsafe {
        let real = real_file(file);
        if let Some(barrier) = (*(*real).pMethods).xShmBarrier {
            barrier(real);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    real!(file, xShmUnmap, delete)
}

unsafe extern "C" fn delete(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    sync_directory: c_int,
) -> c_int {
    // SAFETY: of `table`.
    let state = unsafe { state_of(vfs) };
    fiber::charge(CpuUse::Write, 1.0);
    if state.power.is_off() {
        return ffi::SQLITE_IOERR_DELETE;
    }
    // SAFETY: a name that ends with NUL.
    let path = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let held = state.power.note(|_| std::fs::read(&*path));
    // Not synced for real.
    let code = real_vfs!(xDelete, name, 0);
    if code != ffi::SQLITE_OK {
        return code;
    }
    if let Some(Ok(held)) = held {
        state.power.note(|log| log.deleted(&path, held));
    }
    state.filesystem().delete(&path);
    if sync_directory != 0 {
        let requests = state.filesystem().sync_directory();
        if let Err(PowerIsOff) = state.make_durable(None, requests) {
            return ffi::SQLITE_IOERR_DIR_FSYNC;
        }
    }
    code
}

unsafe extern "C" fn access(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    result: *mut c_int,
) -> c_int {
    real_vfs!(xAccess, name, flags, result)
}

unsafe extern "C" fn full_pathname(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    size: c_int,
    out: *mut c_char,
) -> c_int {
    real_vfs!(xFullPathname, name, size, out)
}

unsafe extern "C" fn randomness(vfs: *mut sqlite3_vfs, size: c_int, out: *mut c_char) -> c_int {
    // SAFETY: of `table`; SQLite gives a buffer of this size.
    let (state, out) = unsafe {
        let size = usize::try_from(size).unwrap_or(0);
        (
            state_of(vfs),
            std::slice::from_raw_parts_mut(out.cast::<u8>(), size),
        )
    };
    let mut seed = lock(&state.random);
    for bytes in out.chunks_mut(8) {
        let random = splitmix64(&mut seed).to_le_bytes();
        bytes.copy_from_slice(&random[..bytes.len()]);
    }
    size
}

unsafe extern "C" fn sleep(_: *mut sqlite3_vfs, microseconds: c_int) -> c_int {
    let Some(now) = fiber::now() else {
        return real_vfs!(xSleep, microseconds);
    };
    let time = Nanos::from_micros(microseconds.max(0) as u64);
    fiber::wait(Wait::Until(now + time));
    microseconds
}

unsafe extern "C" fn current_time_int64(vfs: *mut sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: of `table`; SQLite gives a place for the result.
    unsafe {
        let ms = (state_of(vfs).now().0 / 1_000_000) as i64;
        *out = UNIX_EPOCH_JULIAN_MS + FIRST_DAY_UNIX_MS + ms;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time(vfs: *mut sqlite3_vfs, out: *mut f64) -> c_int {
    let mut ms = 0;
    // SAFETY: as SQLite gave it.
    let code = unsafe { current_time_int64(vfs, &raw mut ms) };
    // SAFETY: SQLite gives a place for the result.
    unsafe { *out = ms as f64 / 86_400_000.0 };
    code
}

unsafe extern "C" fn get_last_error(_: *mut sqlite3_vfs, size: c_int, out: *mut c_char) -> c_int {
    real_vfs!(xGetLastError, size, out)
}
