import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gitstead } from '../../support/command-line.ts'
import { createProject } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import { makeProject, openClientFolders, type TestProject } from '../../support/git-client.ts'
import { openWorld, type World } from '../../support/world.ts'
import { fsckAll } from '../backups/place.ts'

// Two servers: what one has lost, the other has.
let here: World
let there: World
let source: TestProject
const folders = openClientFolders()
const settings = { GITSTEAD_OUTBOUND_ALLOW: '127.0.0.1' }

beforeAll(async () => {
  there = await openWorld()
  here = await openWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
  const ben = await there.user('ben')
  await createProject(ben, 'source', { initialize_with_readme: true, visibility: 'public' })
  const ana = await here.user('ana')
  source = await makeProject(here, ana, 'copy')
  const url = `${there.url}/ben/source.git`
  const set = await ana.put(`/projects/${source.id}/mirror/pull`, { url, enabled: true })
  expect(set.status).toBe(200)
  await here.runTasks()
  expect((await ana.get(`/projects/${source.id}`)).body.empty_repo).toBe(false)
}, 60_000)
afterAll(async () => {
  await Promise.all([here.close(), there.close()])
  await folders.clear()
})

const doctor = async (words: readonly string[]) => {
  const { out } = await gitstead(here.folder, ['doctor', ...words], '', settings)
  return { out, faults: out.split('\n').filter((line) => line.startsWith('FAILURE')) }
}

function loseAll(): void {
  rmSync(join(source.repository, 'objects/pack'), { recursive: true })
  here.ctx.git.open(source.id).engine.forget(source.repository)
}

test('objects that are lost come from the server that a project follows', async () => {
  const tip = git(source.repository, ['rev-parse', 'main'])
  loseAll()
  expect((await doctor([])).faults).not.toEqual([])
  const mended = await doctor(['--mend'])
  expect(mended.faults).toEqual([])
  expect(mended.out).toContain('nothing of what its refs lead to is missing now')
  expect(git(source.repository, ['rev-parse', 'main'])).toBe(tip)
  expect(fsckAll(here.folder)).toEqual([])
  expect((await doctor(['--fsck'])).faults).toEqual([])
}, 60_000)

test('a repository that is gone is made again from it', async () => {
  const tip = git(source.repository, ['rev-parse', 'main'])
  rmSync(source.repository, { recursive: true })
  const mended = await doctor(['--mend'])
  expect(mended.faults).toEqual([])
  expect(mended.out).toContain('its folder is made again')
  expect(git(source.repository, ['rev-parse', 'main'])).toBe(tip)
}, 60_000)

test('one that does not answer gives nothing, and what is lost stays a failure', async () => {
  await there.close()
  loseAll()
  const mended = await doctor(['--mend'])
  expect(mended.faults).not.toEqual([])
  expect(mended.out).not.toContain('is missing now')
}, 60_000)
