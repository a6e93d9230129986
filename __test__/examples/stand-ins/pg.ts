/** Stand-in for `pg`: a pool without a server, with the types that the pages use. */
import type { PostgresPool } from 'spillway/postgres'

export const Pool = class {
  connect = async () => ({})
} as unknown as new (
  options: object,
) => PostgresPool
