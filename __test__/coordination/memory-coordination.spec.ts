import { MemoryCoordination } from 'spillway/remote'
import { coordinationContract } from './contract'

const shared = new MemoryCoordination()

coordinationContract(() => [shared])
