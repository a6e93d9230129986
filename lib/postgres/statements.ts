/** Tables and steps in PostgreSQL: each step is one statement. */

/** Returns the statement that makes what is missing, for many processes at once. The lock is that of this text. */
export function tablesIn(schema: string): string {
  return `
select pg_advisory_xact_lock(hashtext('spillway ${schema}'));
create schema if not exists ${schema};
create table if not exists ${schema}.kept (key text primary key, folder text not null, value text not null, ends timestamptz);
create index if not exists kept_folder on ${schema}.kept (folder);
create index if not exists kept_ends on ${schema}.kept (ends);
create table if not exists ${schema}.entries (log text, at bigint, entry text not null, primary key (log, at));
create table if not exists ${schema}.counters (key text primary key, used bigint not null, ends timestamptz not null);
create table if not exists ${schema}.leases (key text primary key, owner text not null, fence bigint not null, ends timestamptz not null)`
}

/** The moment that is a number of milliseconds from now; null for null. */
const after = (parameter: string) => `now() + ${parameter}::float8 * interval '1 millisecond'`

/** Locks the lease of parameters `key` and `fence` until the statement has ended, so that no owner follows meanwhile. */
const held = (schema: string, key: string, fence: string) =>
  `held as (select 1 from ${schema}.leases where key = ${key} and fence = ${fence}::bigint and ends > now() for share)`

/** Returns the statements of a schema. */
export function statementsIn(schema: string) {
  const live = '(ends is null or ends > now())'
  const leased = (fence: string) => `(${fence}::bigint is null or exists (select 1 from held))`
  return {
    isThere: `select to_regclass('${schema}.leases') is not null as found`,

    /** Key, folder, value, lifetime, channel. Returns nothing if there is a value. Two that are over are removed with each. */
    first: `with over as (delete from ${schema}.kept where key in
        (select key from ${schema}.kept where ends < now() and key <> $1 limit 2 for update skip locked)),
      stored as (insert into ${schema}.kept as known values ($1, $2, $3, ${after('$4')})
        on conflict (key) do update set value = excluded.value, ends = excluded.ends where known.ends <= now() returning value)
      select value, pg_notify($5, $1) from stored`,

    get: `select value from ${schema}.kept where key = $1 and ${live}`,

    /** Key, folder, value, lifetime, channel, key and number of the lease. Returns a row if it was stored. */
    put: `with ${held(schema, '$6', '$7')},
      stored as (insert into ${schema}.kept select $1, $2, $3, ${after('$4')} where ${leased('$7')}
        on conflict (key) do update set value = excluded.value, ends = excluded.ends returning 1)
      select pg_notify($5, $1) from stored`,

    /** Key, channel. */
    remove: `with gone as (delete from ${schema}.kept where key = $1 returning 1) select pg_notify($2, $1) from gone`,

    list: `select key, value from ${schema}.kept where folder = $1 and ${live}`,

    /** Log, place, entry, key and number of the lease. */
    append: `with ${held(schema, '$4', '$5')},
      added as (insert into ${schema}.entries select $1, $2::bigint, $3 where ${leased('$5')}
        and ($2::bigint = 0 or exists (select 1 from ${schema}.entries where log = $1 and at = $2::bigint - 1))
        on conflict do nothing returning 1)
      select ${leased('$5')} as held, exists (select 1 from added) as added`,

    entry: `select entry from ${schema}.entries where log = $1 and at = $2`,

    read: `select entry from ${schema}.entries where log = $1 and at >= $2 order by at`,

    /** Counter, amount, limit, lifetime. Returns nothing if the limit would be passed. */
    take: `insert into ${schema}.counters as known values ($1, $2::bigint, ${after('$4')})
      on conflict (key) do update set
        used = $2::bigint + case when known.ends <= now() then 0 else known.used end,
        ends = case when known.ends <= now() then excluded.ends else known.ends end
        where $2::bigint + case when known.ends <= now() then 0 else known.used end <= $3::bigint
      returning used`,

    /** Key, owner, lifetime. The time is part of the number, so that it grows even if the table was lost. */
    lease: `insert into ${schema}.leases as known
      values ($1, $2, floor(extract(epoch from now()) * 1000), ${after('$3')})
      on conflict (key) do update set owner = excluded.owner, ends = excluded.ends,
        fence = case when known.owner = excluded.owner and known.ends > now() then known.fence
          else greatest(known.fence + 1, excluded.fence) end
        where known.ends <= now() or known.owner = excluded.owner
      returning fence`,

    /** Key, owner. The row stays, because its number must grow. */
    release: `update ${schema}.leases set ends = 'epoch' where key = $1 and owner = $2`,
  }
}
