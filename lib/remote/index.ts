/** Outputs in an object store, for workers that do not share a disk. */

export { MemoryObjects } from './memory-objects'
export type { ListedObject, ObjectRange, ObjectStore, OpenUpload, UploadedPart } from './object-store'
export type { RemoteStorageOptions } from './options'
export { RemoteStorage, type RemoteUsage } from './remote-storage'
