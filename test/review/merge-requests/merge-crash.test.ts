import { rm } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { openApp } from '../../../src/app.ts'
import { makeConfig } from '../../../src/base/config.ts'
import { silentLog } from '../../../src/base/log.ts'
import { type Child, startChild } from '../../support/child.ts'
import { git } from '../../support/git.ts'
import { openBench } from '../../support/review.ts'
import { openWorld, sharedEngine } from '../../support/world.ts'

const script = new URL('./merge-crash-child.mjs', import.meta.url)
let child: Child | undefined

afterEach(async () => {
  await child?.kill()
  child = undefined
})

/** The merge request, its issue and its branch as a server finds them after a start. */
async function stateAfterStart(folder: string, token: string, api: string) {
  const config = makeConfig({ data: folder, port: 0, healthSchedule: 'off' })
  const app = await openApp(config, { log: silentLog, engine: sharedEngine })
  try {
    const { port } = await app.listen()
    const get = async (path: string) => {
      const url = `http://127.0.0.1:${port}/api/v4${path}`
      const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': token } })
      return { status: answer.status, body: JSON.parse(await answer.text()) }
    }
    // The branch goes in a task, a moment later.
    for (let round = 0; round < 100; round += 1) {
      const { body } = await get(`${api}/merge_requests/1`)
      const branch = await get(`${api}/repository/branches/topic`)
      if ((body.state === 'merged') === (branch.status === 404)) {
        return { request: body, issue: (await get(`${api}/issues/1`)).body }
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error('state and branch do not agree')
  } finally {
    await app.close()
  }
}

test.each([
  ['after intent', false],
  ['after refs', true],
] as const)(
  'a server killed in a merge, %s: branch, state and issue agree after the next start',
  async (step, whole) => {
    const world = await openWorld()
    const { folder } = world
    try {
      const ana = await world.user('ana')
      const bench = await openBench(world, ana)
      const api = `/projects/${bench.project.id}`
      await ana.post(`${api}/issues`, { title: 'Broken' })
      bench.commit('topic', { 'a.txt': 'a\n' })
      const { body } = await bench.open('topic', { description: 'Closes #1' })
      const before = git(bench.project.path, ['rev-parse', 'main'])
      await world.app.close()
      const ids = [ana.id, bench.project.id, body.id].map(String)
      child = startChild(script, folder, step, ...ids)
      expect(await child.exit()).toBeNull()
      const { request, issue } = await stateAfterStart(folder, ana.token ?? '', api)
      const tip = git(bench.project.path, ['rev-parse', 'main'])
      expect(tip === before).toBe(!whole)
      expect([request.state, issue.state]).toEqual(
        whole ? ['merged', 'closed'] : ['opened', 'opened'],
      )
      if (whole) expect(request.merge_commit_sha).toBe(tip)
      expect(git(bench.project.path, ['fsck', '--full', '--strict', '--no-dangling'])).toBe('')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
  60_000,
)
