import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let api: string
let head: string
const branches = ['main', 'a', 'b', 'c', 'd', 'e']

// Background work lies until a test runs it, as it does where the server dies before it comes to that.
beforeAll(async () => {
  const { id } = await createProject(ana, 'demo', { initialize_with_readme: true })
  api = `/projects/${id}`
  head = join(world.ctx.git.open(id).path, 'HEAD')
  for (const branch of branches.slice(1)) {
    await ana.post(`${api}/repository/branches`, { branch, ref: 'main' })
  }
  await world.runTasks()
})

async function expectAgreement(): Promise<void> {
  const { body } = await ana.get(api)
  expect(readFileSync(head, 'utf8')).toBe(`ref: refs/heads/${body.default_branch}\n`)
}

test('of many who choose a default branch at once, one wins in the database and in HEAD', async () => {
  for (let round = 0; round < 5; round += 1) {
    const chosen = [...branches, ...branches]
    const replies = await Promise.all(
      chosen.map((default_branch) => ana.put(api, { default_branch })),
    )
    expect(replies.map(({ status }) => status)).toEqual(chosen.map(() => 200))
    await expectAgreement()
  }
})

test('HEAD follows a default branch that was chosen just before the server was killed', async () => {
  const before = readFileSync(head, 'utf8')
  const other = before.endsWith('/a\n') ? 'b' : 'a'
  await ana.put(api, { default_branch: other })
  // What a crash between the row and the repository leaves.
  writeFileSync(head, before)
  await world.runTasks()
  await expectAgreement()
  expect((await ana.get(api)).body.default_branch).toBe(other)
})
