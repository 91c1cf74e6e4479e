import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { newFolder } from '../../support/database.ts'
import { gitClient } from '../../support/git-client.ts'
import { type Caller, useWorld } from '../../support/world.ts'
import {
  type BackupPlace,
  disagreements,
  fsckAll,
  openBackupPlace,
  refsIn,
  serveRestored,
  useQuickKeys,
} from './place.ts'

useQuickKeys()
const world = useWorld()
let ana: Caller
let place: BackupPlace
beforeAll(async () => {
  place = openBackupPlace()
  ana = await world.user('ana')
})
afterAll(async () => {
  place.remove()
})

/** What was acknowledged, with when. */
interface Acknowledged {
  readonly at: number
  readonly commit?: string
  readonly upload?: { readonly url: string; readonly text: string }
}

test('a backup under pushes, commits, uploads and deletions is of one moment', async () => {
  const projects: number[] = []
  for (const name of ['one', 'two', 'three']) {
    const { id } = await createProject(ana, name, { initialize_with_readme: true })
    projects.push(id)
  }
  const [one = 0, two = 0] = projects
  const seen: Acknowledged[] = []
  let going = true
  const keep = async (act: (count: number) => Promise<Omit<Acknowledged, 'at'> | undefined>) => {
    for (let count = 1; going; count += 1) {
      const result = await act(count)
      if (result) seen.push({ ...result, at: performance.now() })
      await pause(50)
    }
  }
  const work = newFolder()
  const remote = `${world.url.replace('://', `://ana:${ana.token}@`)}/ana/one.git`
  await gitClient(work, ['clone', '-q', remote, '.'])
  const writers = [
    keep(async (count) => {
      await gitClient(work, ['commit', '-q', '--allow-empty', '-m', `Number ${count}`])
      const commit = await gitClient(work, ['rev-parse', 'HEAD'])
      await gitClient(work, ['push', '-q', 'origin', `HEAD:refs/heads/push-${count % 3}`])
      return { commit }
    }),
    keep(async (count) => {
      const { status, body } = await ana.post(`/projects/${two}/repository/commits`, {
        branch: 'main',
        commit_message: `Number ${count}`,
        actions: [{ action: 'create', file_path: `${count}.txt`, content: `${count}` }],
      })
      return status === 201 ? { commit: body.id } : undefined
    }),
    keep(async (count) => {
      const text = `upload ${count}`
      const form = new FormData()
      form.set('file', new Blob([text]), 'a.txt')
      const { status, body } = await ana.post(`/projects/${one}/uploads`, undefined, { raw: form })
      return status === 201 ? { upload: { url: `/projects/${one}${body.url}`, text } } : undefined
    }),
    keep(async (count) => {
      const { id } = await createProject(ana, `short ${count}`, { initialize_with_readme: true })
      await ana.delete(`/projects/${id}`)
      return undefined
    }),
  ]
  try {
    for (let round = 0; round < 2; round += 1) {
      const before = performance.now()
      const made = await place.create(world.folder, [
        '--json',
        ...(round > 0 ? ['--incremental'] : []),
      ])
      expect(made.err + made.out).not.toContain('FAILURE')
      expect(made.code).toBe(0)
      const restored = await place.restore()
      expect(fsckAll(restored)).toEqual([])
      expect(disagreements(restored)).toEqual([])
      const acknowledged = seen.filter(({ at }) => at < before)
      expect(commitsIn(restored)).toEqual(
        expect.arrayContaining(acknowledged.flatMap(({ commit }) => commit ?? [])),
      )
      await assertUploads(restored, acknowledged)
    }
  } finally {
    going = false
    await Promise.all(writers)
  }
  expect(seen.filter(({ commit }) => commit).length).toBeGreaterThan(3)
}, 240_000)

/** Every commit that a ref of the database has ever been moved to, of those whose objects are there. */
function commitsIn(data: string): string[] {
  const database = new Database(join(data, 'gitstead.db'), { readonly: true })
  const moved = database
    .prepare<[], { new_id: string }>(`SELECT new_id FROM ref_moves WHERE state = 'moved'`)
    .all()
  database.close()
  return moved.map(({ new_id }) => new_id)
}

async function assertUploads(data: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  const server = await serveRestored(data, ana.token)
  try {
    for (const { upload } of acknowledged.slice(-30)) {
      if (upload) expect((await server.as.get(upload.url)).body).toBe(upload.text)
    }
  } finally {
    await server.close()
  }
}

test('what the server holds for a backup ends with it, whatever becomes of it', async () => {
  const { deletions, moves } = world.ctx.git
  await place.create(world.folder)
  await expect.poll(() => deletions.isHeld).toBe(false)

  const socket = createConnection(join(world.folder, 'backup.sock'))
  const answers: string[] = []
  socket.on('data', (chunk: Buffer) => void answers.push(chunk.toString()))
  socket.write('{"want":"begin"}\n{"want":"close"}\n')
  await expect.poll(() => answers.join('')).toContain('"moved":[]')
  expect(deletions.isHeld).toBe(true)
  let moved = false
  const move = moves.run('1', async () => {
    moved = true
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(moved).toBe(false)
  socket.destroy()
  await move
  await expect.poll(() => deletions.isHeld).toBe(false)
})

test('words that no command says close the connection, and nothing else', async () => {
  for (const words of ['nonsense\n', '{"want":"everything"}\n', 'x'.repeat(5000)]) {
    const socket = createConnection(join(world.folder, 'backup.sock'))
    socket.on('error', () => {})
    socket.write(words)
    await new Promise((resolve) => socket.once('close', resolve))
  }
  expect((await ana.get('/user')).status).toBe(200)
  expect(readFileSync(join(world.folder, 'server.pid'), 'utf8').trim()).toBe(String(process.pid))
})

test('a ref of the server itself is as the database has it, though it is in no journal', async () => {
  const { id } = await createProject(ana, 'requests', { initialize_with_readme: true })
  const commit = async (count: number) =>
    ana.post(`/projects/${id}/repository/commits`, {
      branch: 'side',
      ...(count === 0 ? { start_branch: 'main' } : {}),
      commit_message: `Number ${count}`,
      actions: [{ action: 'create', file_path: `${count}.txt`, content: `${count}` }],
    })
  await commit(0)
  const request = { title: 'r', source_branch: 'side', target_branch: 'main' }
  await ana.post(`/projects/${id}/merge_requests`, request)
  await world.runTasks()
  await commit(1)
  await world.runTasks()
  await place.create(world.folder, ['--incremental'])
  const restored = await place.restore()
  const shard = (id & 0xff).toString(16).padStart(2, '0')
  const refs = refsIn(join(restored, 'repositories', shard, `${id}.git`))
  expect(refs.get('refs/merge-requests/1/head')).toBe(refs.get('refs/heads/side'))
})
