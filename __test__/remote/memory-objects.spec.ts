import { MemoryObjects } from 'spillway/remote'
import { objectStoreContract } from './contract'

describe('MemoryObjects', () => objectStoreContract(() => new MemoryObjects()))
