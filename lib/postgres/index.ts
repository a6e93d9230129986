/** State that workers share, in PostgreSQL. */

export {
  type PostgresClient,
  type PostgresCoordinationOptions,
  type PostgresPool,
  postgresCoordination,
} from './postgres-coordination'
