/** Tables and steps in PostgreSQL: each step is one statement. */

/** Returns the statement that creates missing tables, for many processes at once. The lock is that of this text. */
export function tablesIn(schema: string): string {
  return `
select pg_advisory_xact_lock(hashtext('spillway ${schema}'));
create schema if not exists ${schema};
create table if not exists ${schema}.key_values (key text primary key, folder text not null, value text not null, expires_at timestamptz);
create index if not exists key_values_folder on ${schema}.key_values (folder);
create index if not exists key_values_expires_at on ${schema}.key_values (expires_at);
create table if not exists ${schema}.log_entries (log text, position bigint, entry text not null, primary key (log, position));
create table if not exists ${schema}.counters (key text primary key, used_amount bigint not null, expires_at timestamptz not null);
create table if not exists ${schema}.leases (key text primary key, owner text not null, fence bigint not null, expires_at timestamptz not null)`
}

/** The moment that is a number of milliseconds from now; null for null. */
const after = (parameter: string) => `now() + ${parameter}::float8 * interval '1 millisecond'`

/** Locks the lease of parameters `key` and `fence` until the statement has ended, so that no owner follows meanwhile. */
const held = (schema: string, key: string, fence: string) =>
  `held as (select 1 from ${schema}.leases where key = ${key} and fence = ${fence}::bigint and expires_at > now() for share)`

/** Returns the statements of a schema. */
export function statementsIn(schema: string) {
  const live = '(expires_at is null or expires_at > now())'
  const leased = (fence: string) => `(${fence}::bigint is null or exists (select 1 from held))`
  return {
    tablesExist: `select to_regclass('${schema}.key_values') is not null as found`,

    /** Key, folder, value, lifetime, channel. Returns nothing if there is a value. Each call also removes two expired values. */
    insertIfAbsent: `with expired as (delete from ${schema}.key_values where key in
        (select key from ${schema}.key_values where expires_at < now() and key <> $1 limit 2 for update skip locked)),
      stored as (insert into ${schema}.key_values as known values ($1, $2, $3, ${after('$4')})
        on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at where known.expires_at <= now() returning value)
      select value, pg_notify($5, $1) from stored`,

    get: `select value from ${schema}.key_values where key = $1 and ${live}`,

    /** Key, folder, value, lifetime, channel, key and number of the lease. Returns a row if it was stored. */
    put: `with ${held(schema, '$6', '$7')},
      stored as (insert into ${schema}.key_values select $1, $2, $3, ${after('$4')} where ${leased('$7')}
        on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at returning 1)
      select pg_notify($5, $1) from stored`,

    /** Key, channel. */
    remove: `with removed as (delete from ${schema}.key_values where key = $1 returning 1) select pg_notify($2, $1) from removed`,

    list: `select key, value from ${schema}.key_values where folder = $1 and ${live}`,

    /** Log, position, entry, key and number of the lease. */
    append: `with ${held(schema, '$4', '$5')},
      added as (insert into ${schema}.log_entries select $1, $2::bigint, $3 where ${leased('$5')}
        and ($2::bigint = 0 or exists (select 1 from ${schema}.log_entries where log = $1 and position = $2::bigint - 1))
        on conflict do nothing returning 1)
      select ${leased('$5')} as held, exists (select 1 from added) as added`,

    entry: `select entry from ${schema}.log_entries where log = $1 and position = $2`,

    read: `select entry from ${schema}.log_entries where log = $1 and position >= $2 order by position`,

    /** Counter, amount, limit, lifetime. Returns nothing if the limit would be passed. */
    take: `insert into ${schema}.counters as known values ($1, $2::bigint, ${after('$4')})
      on conflict (key) do update set
        used_amount = $2::bigint + case when known.expires_at <= now() then 0 else known.used_amount end,
        expires_at = case when known.expires_at <= now() then excluded.expires_at else known.expires_at end
        where $2::bigint + case when known.expires_at <= now() then 0 else known.used_amount end <= $3::bigint
      returning used_amount`,

    /** Key, owner, lifetime. The time is part of the number, so that it grows even if the table was lost. */
    lease: `insert into ${schema}.leases as known
      values ($1, $2, floor(extract(epoch from now()) * 1000), ${after('$3')})
      on conflict (key) do update set owner = excluded.owner, expires_at = excluded.expires_at,
        fence = case when known.owner = excluded.owner and known.expires_at > now() then known.fence
          else greatest(known.fence + 1, excluded.fence) end
        where known.expires_at <= now() or known.owner = excluded.owner
      returning fence`,

    /** Key, owner. The row stays, because its number must grow. */
    release: `update ${schema}.leases set expires_at = 'epoch' where key = $1 and owner = $2`,
  }
}
