import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { get } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { gitBytes } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ limitArchives: 0, limitLargeBlobs: 0, engineProcesses: 1 })
const ana = useCaller(world, 'ana')
let project: TestProject
let sha: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  const input = randomBytes(48_000_000)
  sha = gitBytes(project.path, ['hash-object', '-w', '--stdin'], { input }).toString().trim()
  const tree = gitBytes(project.path, ['mktree'], { input: `100644 blob ${sha}\tbig\n` })
  const commit = project.git('commit-tree', tree.toString().trim(), '-m', 'Big')
  project.git('branch', 'big', commit)
})

/** How many git programs work in the repository. */
function gitPrograms(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (!/^git\0|\/git\0/.test(command)) return false
      return command.includes(project.path) || readlinkSync(`/proc/${pid}/cwd`) === project.path
    } catch {
      return false
    }
  }).length
}

/** The engine processes of this server: one that crashed has been replaced by another. */
function enginePrograms(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      const isOurs = command.includes('git/service/process') && command.includes(world.folder)
      return Number(parent) === process.pid && isOurs
    } catch {
      return false
    }
  })
}

/** Begins a download and goes away after the first bytes. */
function leaveEarly(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'PRIVATE-TOKEN': ana.token ?? '' }
    const request = get(`${world.url}/api/v4${project.api}/${path}`, { headers }, (response) => {
      response.once('data', () => {
        request.destroy()
        resolve()
      })
    })
    request.on('error', reject)
  })
}

test.each([
  ['a raw blob', () => `blobs/${sha}/raw`],
  ['a blob as JSON', () => `blobs/${sha}`],
  ['a raw file', () => 'files/big/raw?ref=big'],
  ['a tar', () => 'archive.tar?sha=big'],
  ['a tar.gz', () => 'archive.tar.gz?sha=big'],
  ['a zip', () => 'archive.zip?sha=big'],
  ['a tar.bz2', () => 'archive.tar.bz2?sha=big'],
])('%s that nobody waits for any more leaves no program behind', async (_name, path) => {
  // Small reads start no engine process; these start the light one and the heavy one.
  await ana.get(`${project.api}/commits/big/sequence`)
  await ana.get(`${project.api}/tree?recursive=true`)
  const engines = enginePrograms()
  expect(engines).not.toEqual([])
  await leaveEarly(path())
  await expect.poll(gitPrograms).toBe(0)
  expect((await ana.get(`${project.api}/tree`)).status).toBe(200)
  expect(enginePrograms()).toEqual(engines)
})
