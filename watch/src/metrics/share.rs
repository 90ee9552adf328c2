//! What part of its plan a server takes. Agents send what they measured; the
//! plan is known here alone, so agents need not know when it changes.

use super::hub::Size;
use crate::{Context, Result};
use model::{InstanceId, Series, ServerId, SignedDuration};
use series::{Sample, narrow};
use store::{disks, instances};

/// A plan that changes is noticed after this.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(60);
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// The size of a server, looked up now and then.
pub(super) async fn size(
    context: &Context,
    instance: InstanceId,
    server: ServerId,
) -> Result<Option<Size>> {
    let now = context.elapsed();
    let known = context.metrics().servers().get(&server).and_then(|held| held.size);
    if let Some(size) = known.filter(|size| now - size.looked_up < LOOK_AGAIN) {
        return Ok(Some(size));
    }
    let mut reader = context.store().reader();
    let Some(instance) = instances::find(&mut reader, instance).await? else {
        return Ok(None);
    };
    let Some(plan) = context.catalogue.plan(&instance.plan.0) else { return Ok(None) };
    let disks = disks::list(&mut reader, instance.id).await?;
    let disk = disks.iter().find(|disk| disk.server_id == server);
    let disk_gb = disk.map_or(plan.family.disk_gb, |disk| disk.made_gb);
    let bytes = |gb: u32| narrow(f64::from(gb) * GIB);
    let size = Size {
        cores: narrow(f64::from(plan.family.cores)),
        memory: bytes(plan.family.memory_gb),
        disk: bytes(disk_gb),
        looked_up: now,
    };
    context.metrics().servers().entry(server).or_default().size = Some(size);
    Ok(Some(size))
}

/// Adds what follows from the size.
pub(super) fn add(sample: &mut Sample, size: Option<Size>) {
    let share = |sample: &Sample, of: Series, whole: f32| {
        sample.value(of).filter(|_| whole > 0.0).map(|part| part / whole * 100.0)
    };
    let free = sample.value(Series::FileSystemFree);
    let left = size
        .and_then(|size| sample.value(Series::DiskUsed).map(|used| (size.disk - used).max(0.0)));
    let full = size.and_then(|size| full(sample, size.disk));
    let derived = [
        (Series::DiskFull, full),
        (Series::Cpu, size.and_then(|size| share(sample, Series::CpuCores, size.cores))),
        (Series::Memory, size.and_then(|size| share(sample, Series::MemoryUsed, size.memory))),
        (Series::DiskFree, left.into_iter().chain(free).reduce(f32::min)),
    ];
    for (series, value) in derived {
        if let Some(value) = value {
            sample.values.insert(series, value);
        }
    }
}

/// Percent of the disk. A file system that others fill as well, or that is smaller
/// than the plan, may have less left than the plan has.
fn full(sample: &Sample, disk: f32) -> Option<f32> {
    let part = |left: f32, of: f32| (of > 0.0).then(|| (1.0 - left / of).clamp(0.0, 1.0) * 100.0);
    let used = sample.value(Series::DiskUsed).and_then(|used| part(disk - used, disk));
    let room = sample.value(Series::FileSystemFree).zip(sample.value(Series::FileSystemSize));
    let shared = room.and_then(|(free, size)| part(free, size.min(disk)));
    used.into_iter().chain(shared).reduce(f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_as_full_as_its_plan_or_its_file_system_has_it() {
        use Series as S;
        let check = |measured: &[(S, f32)], expected: Option<f32>| {
            let sample = Sample { values: measured.iter().copied().collect(), ..<_>::default() };
            assert_eq!(full(&sample, 500.0), expected, "{measured:?}");
        };
        let disk = |used, free, size| {
            [(S::DiskUsed, used), (S::FileSystemFree, free), (S::FileSystemSize, size)]
        };
        check(&[], None);
        check(&[(S::DiskUsed, 450.0)], Some(90.0));
        check(&[(S::FileSystemFree, 1.0)], None);
        check(&disk(125.0, 9000.0, 10_000.0), Some(25.0));
        // Others have filled what they share.
        check(&disk(125.0, 25.0, 10_000.0), Some(95.0));
        // The plan promises more than there is.
        check(&disk(125.0, 25.0, 100.0), Some(75.0));
        check(&disk(600.0, 9000.0, 10_000.0), Some(100.0));
    }

    #[test]
    fn shares_are_of_the_plan_and_free_is_what_really_is() {
        use Series as S;
        let size = Size { cores: 2.0, memory: 1000.0, disk: 500.0, looked_up: <_>::default() };
        let check = |measured: &[(S, f32)], size, expected: &[(S, f32)]| {
            let mut sample =
                Sample { values: measured.iter().copied().collect(), ..<_>::default() };
            add(&mut sample, size);
            let derived = [S::Cpu, S::Memory, S::DiskFree];
            sample.values.retain(|series, _| derived.contains(series));
            assert_eq!(sample.values.into_iter().collect::<Vec<_>>(), expected, "{measured:?}");
        };
        let both = [(S::CpuCores, 0.5), (S::MemoryUsed, 250.0)];
        check(&both, Some(size), &[(S::Cpu, 25.0), (S::Memory, 25.0)]);
        check(&both, None, &[]);
        let disk = |used, free| [(S::DiskUsed, used), (S::FileSystemFree, free)];
        check(&disk(100.0, 9000.0), Some(size), &[(S::DiskFree, 400.0)]);
        check(&disk(100.0, 50.0), Some(size), &[(S::DiskFree, 50.0)]);
        check(&disk(900.0, 9000.0), Some(size), &[(S::DiskFree, 0.0)]);
        check(&disk(100.0, 50.0), None, &[(S::DiskFree, 50.0)]);
    }
}
