import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import type { MoveStep } from '../../src/repositories/refs/move-refs.ts'
import { openStore } from '../../src/store/connection.ts'
import type { PushStep } from '../../src/transport/transport.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { openWorld, type World } from '../support/world.ts'
import { type CrashServer, crashServer } from './crash-server.ts'

let folders: ClientFolders
let folder: string
let project: TestProject
let world: World
let source: string
let token: string
let server: CrashServer

// One data folder for all: each crash finds it as the last recovery left it.
beforeAll(async () => {
  folders = openClientFolders()
  world = await openWorld()
  const ana = await world.user('ana')
  token = ana.token ?? ''
  project = await makeProject(world, ana, 'demo')
  source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main'])
  folder = world.folder
  await world.app.close()
  // Keeps what is forgotten once it is done: each push whose effects were ever left for later.
  const database = new Database(join(folder, 'gitstead.db'))
  database.exec(`CREATE TABLE left_pushes (push_id INTEGER NOT NULL);
    CREATE TRIGGER keep_left_pushes AFTER INSERT ON waiting_pushes BEGIN
      INSERT INTO left_pushes VALUES (NEW.push_id);
    END`)
  database.close()
  server = crashServer(folder)
  await server.serve('')
}, 120_000)

afterAll(async () => {
  await server?.kill()
  await folders.clear()
  await rm(folder, { recursive: true, force: true })
})

/** The address of the project at a server that dies at a step. */
async function serve(step: PushStep | ''): Promise<string> {
  return `http://ana:${token}@127.0.0.1:${await server.serve(step)}/${project.path}.git`
}

async function stored() {
  const store = openStore(folder, { migrations })
  try {
    const moves = await store.db
      .selectFrom('ref_moves')
      .innerJoin('pushes', 'pushes.id', 'ref_moves.push_id')
      .select(['ref', 'new_id', 'ref_moves.state', 'pushes.state as push', 'push_id'])
      .orderBy('ref_moves.id')
      .execute()
    return moves
  } finally {
    await store.close()
  }
}

const refValue = async (ref: string) =>
  await gitClient(project.repository, ['for-each-ref', '--format=%(objectname)', ref])

/** Whatever happened: no push is open, and the rows say about each ref what the ref says. */
async function expectAgreement(refs: readonly string[], newId: string): Promise<boolean[]> {
  const moves = await stored()
  expect(moves.filter((move) => move.push === 'open' || move.state === 'open')).toEqual([])
  expect(await gitClient(project.repository, ['fsck', '--full', '--strict'])).toBe('')
  return await Promise.all(
    refs.map(async (ref) => {
      const rows = moves.filter((move) => move.ref === ref && move.state === 'moved')
      const isNew = (await refValue(ref)) === newId
      expect(rows.map((move) => move.new_id)).toEqual(isNew ? [newId] : [])
      return isNew
    }),
  )
}

describe('the server is killed in a push', () => {
  const steps = [
    ['commands read', false],
    ['objects received', false],
    ['intent recorded', false],
    ['allowed', false],
    ['refs moved', true],
    ['finalized', true],
  ] as const
  // Several refs are git's to move, one is ours.
  test.each([1, 2].flatMap((count) => steps.map((step) => [count, ...step] as const)))(
    'of %i refs, at "%s": afterwards refs and rows agree, and a second push goes through',
    async (count, step, arrives) => {
      const tip = await commitFile(source, 'file', `${count} ${step}`, `Change at ${step}`)
      const name = step.replace(' ', '-')
      const refs = Array.from({ length: count }, (_, i) => `refs/heads/${name}-${count}-${i}`)
      const pushed = refs.map((ref) => `HEAD:${ref}`)
      const run = await runGitClient(source, ['push', await serve(step), ...pushed])
      expect(run.code).not.toBe(0)
      await server.death()
      const address = await serve('')
      expect(await expectAgreement(refs, tip)).toEqual(refs.map(() => arrives))
      await gitClient(source, ['push', '-q', address, ...pushed])
      expect(await expectAgreement(refs, tip)).toEqual(refs.map(() => true))
    },
  )
})

describe('the server is killed in a move by the API', () => {
  test.each([
    ['before intent', false],
    ['after intent', false],
    ['after refs', true],
    ['after effects', true],
  ] as const satisfies readonly (readonly [MoveStep, boolean])[])(
    '%s: the branch is unchanged, or there with its row; trying again makes no second',
    async (step, arrives) => {
      const tip = await gitClient(source, ['rev-parse', 'main~1'])
      const ref = `refs/heads/api-${step.replace(' ', '-')}`
      const move = { project: project.id, name: ref, oldId: '0'.repeat(40), newId: tip }
      expect(await server.move({ step, move })).toBe(false)
      await server.death()
      await server.serve('')
      expect(await expectAgreement([ref], tip)).toEqual([arrives])
      if (!arrives) expect(await server.move({ step: '', move })).toBe(true)
      expect(await expectAgreement([ref], tip)).toEqual([true])
    },
  )
})

test('the effects of each push that arrived were left for later exactly once', async () => {
  await server.kill()
  const moved = (await stored()).filter((move) => move.state === 'moved')
  const pushes = [...new Set(moved.map((move) => move.push_id))].sort((a, b) => a - b)
  const database = new Database(join(folder, 'gitstead.db'), { readonly: true })
  const rows = database.prepare('SELECT push_id FROM left_pushes ORDER BY push_id').pluck().all()
  database.close()
  // The first push came before the table did, months ago by the clock of the servers here, who forget it.
  expect(rows).toEqual(pushes.filter((id) => id > 1))
  expect(rows.length).toBeGreaterThan(8)
})
