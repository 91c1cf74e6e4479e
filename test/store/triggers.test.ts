import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { openTestStore } from '../support/database.ts'

const store = openTestStore()
afterAll(() => store.remove())

/** What follows from a change stands in src/effects.ts. A trigger stays where each statement has to keep the tables consistent. */
const reasons: Readonly<Record<string, readonly string[]>> = {
  'counts and sizes, which lists read without counting': [
    ...['container_tags_deleted', 'container_tags_inserted', 'container_tags_moved'],
    ...['error_events_deleted', 'error_events_inserted', 'error_events_replaced'],
    ...['errors_deleted', 'errors_inserted', 'errors_resized'],
    ...['projects_fork_changed', 'projects_fork_removed', 'projects_forked'],
    ...['stars_added', 'stars_removed'],
    ...['virtual_cache_entries_deleted', 'virtual_cache_entries_inserted'],
    'virtual_cache_entries_resized',
  ],
  'columns worked out from other tables: last activity, second factor, positions without gaps': [
    ...['access_tokens_used', 'oauth_tokens_used'],
    ...['security_keys_added', 'security_keys_deleted'],
    ...['totp_secrets_confirmed', 'totp_secrets_deleted'],
    'board_lists_close_ranks',
  ],
  'paths, and the closure of groups': [
    ...['namespaces_added', 'namespaces_moved', 'namespaces_moving', 'namespaces_renamed'],
    ...['namespaces_user_renamed', 'projects_added', 'projects_left_path', 'projects_renamed'],
    ...['routes_added', 'routes_changed'],
  ],
  'deletions that no foreign key can make: of rows that name their subject by kind and id': [
    ...['alerts_deleted', 'cross_references_deleted', 'deploy_key_projects_last'],
    ...['issues_deleted', 'issues_deleted_mentions', 'issues_deleted_user_agents'],
    ...['merge_requests_deleted', 'merge_requests_deleted_mentions'],
    ...['namespaces_belongings', 'namespaces_deploy_tokens', 'namespaces_exports'],
    ...['namespaces_notification_settings', 'notes_deleted', 'notes_take_todos'],
    ...['projects_belongings', 'projects_deploy_tokens', 'projects_exports'],
    ...['projects_notification_settings', 'snippets_deleted', 'ssh_keys_protection_levels'],
    'users_belongings',
  ],
}

test('each trigger of the schema has one of four reasons', async () => {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'trigger'`.execute(store.db)
  const known = Object.values(reasons).flat()
  expect(rows.map(({ name }) => name).sort()).toEqual(known.sort())
})
