import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrations } from '../../../src/areas.ts'
import { openStore } from '../../../src/store/connection.ts'
import { newFolder } from '../../support/database.ts'

const NOW = '2026-01-01T00:00:00.000Z'

test('an upgrade counts the tags that are there', async () => {
  const folder = newFolder()
  const older = migrations.filter(({ name }) => name < '0300')
  await openStore(folder, { migrations: older }).close()
  const database = new Database(join(folder, 'gitstead.db'))
  database.exec(`
    INSERT INTO users (id, username, name, email, created_at, updated_at)
      VALUES (1, 'ana', 'Ana', 'ana@example.com', '${NOW}', '${NOW}');
    INSERT INTO namespaces (id, kind, name, path, full_path, full_name, owner_id, created_at, updated_at)
      VALUES (1, 'user', 'Ana', 'ana', 'ana', 'Ana', 1, '${NOW}', '${NOW}');
    INSERT INTO projects (id, namespace_id, name, path, full_path, created_at, updated_at, last_activity_at)
      VALUES (1, 1, 'demo', 'demo', 'ana/demo', '${NOW}', '${NOW}', '${NOW}');`)
  for (const id of [1, 2, 3]) {
    database.exec(`INSERT INTO container_repositories (id, project_id, name, created_at, updated_at)
      VALUES (${id}, 1, 'r${id}', '${NOW}', '${NOW}')`)
    for (let n = 1; n < id; n += 1) {
      database.exec(`INSERT INTO container_tags (repository_id, name, digest, total_size, created_at)
        VALUES (${id}, 't${n}', 'd', ${n}, '${NOW}')`)
    }
  }
  await openStore(folder, { migrations }).close()
  const counted = database
    .prepare('SELECT tags_count, tags_size FROM container_repositories ORDER BY id')
    .raw()
  expect(counted.all()).toEqual([
    [0, 0],
    [1, 1],
    [2, 3],
  ])
  database.close()
  rmSync(folder, { recursive: true })
})
