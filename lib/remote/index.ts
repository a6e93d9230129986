/** Outputs in an object store, and state that is shared, for workers that do not share a disk. */

export { AuditHeads, type AuditHeadsOptions } from '../coordination/audit-heads'
export type { Coordination, Lease, ListedValue, PutOptions } from '../coordination/coordination'
export { FleetApprovals, type FleetApprovalsOptions } from '../coordination/fleet-approvals'
export { FleetSession, type FleetSessionOptions } from '../coordination/fleet-session'
export { MemoryCoordination } from '../coordination/memory-coordination'
export { type OpenCoordinationOptions, type OpenStoreOptions, openCoordination, openStore } from '../fleet/open'
export { storeOfPath } from '../fleet/store-location'
export { MemoryObjects } from './memory-objects'
export type { ListedObject, ObjectRange, ObjectStore, OpenUpload, UploadedPart } from './object-store'
export type { RemoteStorageOptions } from './options'
export { RemoteStorage, type RemoteUsage } from './remote-storage'
