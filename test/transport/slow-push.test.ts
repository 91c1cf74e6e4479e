import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'
import { emptyPack, pushBody, splitAddress } from './raw-push.ts'

/** What a client may be silent for in the middle of its pack. */
const idle = 400

let folders: ClientFolders
let ana: Caller
let eve: Caller
let project: TestProject
let tip: string

const world = useWorld({ gitIdle: idle, gitProcesses: 1 })
beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  eve = await world.user('eve')
  project = await makeProject(world, ana, 'target', { visibility: 'public' })
  const source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main'])
  tip = await gitClient(source, ['rev-parse', 'main'])
})
afterAll(() => folders.clear())

/** Sends the pieces with silences of several times the limit between them. */
async function sendSlowly(who: Caller, pieces: readonly Buffer[]) {
  const { url, authorization } = splitAddress(project.url(who))
  const body = new ReadableStream({
    async start(controller) {
      for (const [at, piece] of pieces.entries()) {
        if (at > 0) await sleep(4 * idle)
        controller.enqueue(new Uint8Array(piece))
      }
      controller.close()
    },
  })
  const headers = {
    'Content-Type': 'application/x-git-receive-pack-request',
    Authorization: authorization,
  }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const response = await fetch(`${url}/git-receive-pack`, init)
  return { status: response.status, text: await response.text() }
}

const none = { pack: Buffer.alloc(0), capabilities: 'report-status side-band-64k' }

test('a client may compress for long between its commands and its pack', async () => {
  const two = pushBody(
    [
      ['refs/heads/a', tip],
      ['refs/heads/b', tip],
    ],
    none,
  )
  const pushes = [pushBody([['refs/heads/slow', tip]], none), two]
  const answers = await Promise.all(
    pushes.map((commands) => sendSlowly(ana, [commands, emptyPack])),
  )
  expect(answers).toMatchObject([
    { status: 200, text: expect.stringContaining('ok refs/heads/slow') },
    { status: 200, text: expect.stringContaining('ok refs/heads/a') },
  ])
})

test('meanwhile it holds up no other push', async () => {
  const slow = sendSlowly(ana, [pushBody([['refs/heads/later', tip]], none), emptyPack])
  const quick = await sendSlowly(ana, [pushBody([['refs/heads/quick', tip]])])
  expect(quick.text).toContain('ok refs/heads/quick')
  const refs = () => gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])
  expect(await refs()).not.toContain('refs/heads/later')
  expect((await slow).text).toContain('ok refs/heads/later')
})

test('a client that is refused hears why, however long it compressed', async () => {
  const [misnamed, foreign] = await Promise.all([
    sendSlowly(ana, [pushBody([['refs/heads/refs/heads/x', tip]], none), emptyPack]),
    sendSlowly(eve, [pushBody([['refs/heads/eve', tip]], none), emptyPack]),
  ])
  expect(misnamed.text).toContain('prohibited name')
  expect(foreign.status).toBe(403)
})

test('one that is silent within its commands or its pack is given up', async () => {
  const commands = pushBody(
    [
      ['refs/heads/cut', tip],
      ['refs/heads/off', tip],
    ],
    none,
  )
  const silent = [
    [commands.subarray(0, 60), Buffer.concat([commands.subarray(60), emptyPack])],
    [Buffer.concat([commands, emptyPack.subarray(0, 20)]), emptyPack.subarray(20)],
  ]
  for (const pieces of silent) {
    const answer = await sendSlowly(ana, pieces).catch(() => ({ status: 0, text: '' }))
    expect(answer.text).not.toContain('ok refs/heads/cut')
  }
})
