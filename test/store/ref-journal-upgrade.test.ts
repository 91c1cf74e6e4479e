import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { newFolder } from '../support/database.ts'

const before = migrations.filter(({ name }) => name < '0130')
const journal = migrations.filter(({ name }) => name <= '0130-one-ref-journal')
const at = '2026-01-01T00:00:00.000Z'

let folder: string
beforeEach(async () => {
  folder = newFolder()
  await openStore(folder, { migrations: before }).close()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function query<T>(text: string): T[] {
  const database = new Database(join(folder, 'gitstead.db'), { readonly: true })
  try {
    return database.prepare<[], T>(text).all()
  } finally {
    database.close()
  }
}

/** Rows as an older server left them; what they point to does not matter to the upgrade. */
function fill(text: string): void {
  const database = new Database(join(folder, 'gitstead.db'))
  database.pragma('foreign_keys = OFF')
  database.exec(text)
  database.close()
}

const parents = `
INSERT INTO users (id, username, name, email, created_at, updated_at)
  VALUES (1, 'ana', 'Ana', 'ana@example.com', '${at}', '${at}');
INSERT INTO namespaces (id, kind, name, path, full_path, full_name, owner_id, created_at, updated_at)
  VALUES (1, 'user', 'Ana', 'ana', 'ana', 'Ana', 1, '${at}', '${at}');
INSERT INTO projects (id, namespace_id, name, path, full_path, created_at, updated_at, last_activity_at)
  VALUES (1, 1, 'demo', 'demo', 'ana/demo', '${at}', '${at}', '${at}');
INSERT INTO side_repositories (id, project_id, default_branch, created_at)
  VALUES (4, 1, 'main', '${at}');
INSERT INTO wiki_pages (repository_id, slug, path, created_at, updated_at)
  VALUES (4, 'home', 'home.md', '${at}', '${at}');
`

test('an upgrade carries the moves of wikis and snippets over into the one journal', async () => {
  fill(`${parents}
INSERT INTO pushes (id, project_id, user_id, via, state, created_at)
  VALUES (8, 1, 1, 'push', 'closed', '${at}'), (9, 1, 1, 'api', 'open', '${at}');
INSERT INTO ref_moves (id, push_id, project_id, ref, old_id, new_id, state)
  VALUES (20, 9, 1, 'refs/heads/main', '00', 'aa', 'open');
INSERT INTO push_effects (push_id, effect) VALUES (8, 'told');
INSERT INTO side_moves (id, repository_id, user_id, process, ref, old_id, new_id, from_path, to_path, state, created_at)
  VALUES (1, 4, 1, '7:7', 'refs/heads/main', '00', 'bb', NULL, NULL, 'moved', '${at}'),
         (3, 4, 1, NULL, 'refs/heads/main', 'bb', 'cc', 'old.md', 'new.md', 'open', '${at}');`)
  await openStore(folder, { migrations: journal }).close()
  expect(query('SELECT id, project_id, repository_id, via, state FROM pushes')).toEqual([
    { id: 8, project_id: 1, repository_id: null, via: 'push', state: 'closed' },
    { id: 9, project_id: 1, repository_id: null, via: 'api', state: 'open' },
    { id: 10, project_id: null, repository_id: 4, via: 'push', state: 'closed' },
    { id: 12, project_id: null, repository_id: 4, via: 'api', state: 'open' },
  ])
  expect(query('SELECT id, push_id, repository_id, new_id, state FROM ref_moves')).toEqual([
    { id: 20, push_id: 9, repository_id: null, new_id: 'aa', state: 'open' },
    { id: 21, push_id: 10, repository_id: 4, new_id: 'bb', state: 'moved' },
    { id: 23, push_id: 12, repository_id: 4, new_id: 'cc', state: 'open' },
  ])
  expect(query('SELECT * FROM wiki_renames')).toEqual([
    { push_id: 12, from_path: 'old.md', to_path: 'new.md' },
  ])
  expect(query('SELECT push_id FROM push_effects')).toEqual([{ push_id: 8 }])
  expect(query('SELECT slug FROM wiki_pages WHERE repository_id = 4')).toEqual([{ slug: 'home' }])
})

test('an upgrade never gives the number of a forgotten push again', async () => {
  fill(`${parents}
INSERT INTO pushes (id, project_id, via, created_at) VALUES (50, 1, 'push', '${at}');
DELETE FROM pushes;`)
  await openStore(folder, { migrations: journal }).close()
  fill(`INSERT INTO pushes (project_id, via, created_at) VALUES (1, 'push', '${at}')`)
  expect(query('SELECT id FROM pushes')).toEqual([{ id: 51 }])
})
