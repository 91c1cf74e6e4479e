import { beforeAll, expect, test } from 'vitest'
import { commitFiles } from '../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let lint: string

const KEPT = 'kept-for-protected-refs'
const HIDDEN = 'hidden-value-1'
const PLAIN = 'plain-value'

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'r', visibility: 'public' })
  await addMember(world, project, dev, 30)
  const at = `/projects/${project.id}`
  lint = `${at}/ci/lint`
  const levels = { push_access_level: 40, merge_access_level: 40 }
  await ana.post(`${at}/protected_branches`, { name: 'main', ...levels })
  const variables = [
    { key: 'KEPT', value: KEPT, protected: true },
    { key: 'HIDDEN', value: HIDDEN, masked_and_hidden: true },
    { key: 'PLAIN', value: PLAIN },
  ]
  for (const one of variables) expect((await ana.post(`${at}/variables`, one)).status).toBe(201)
  commitFiles(project, { files: { '.svc-ci.yml': 'include: $PLAIN/$HIDDEN/more.yml' } })
})

/** A look at a configuration that includes a file named by variables, at the protected branch. */
async function faultOf(who: Caller): Promise<string> {
  const content = 'include: /$KEPT/$HIDDEN/$PLAIN.yml'
  const { status, body } = await who.post(lint, { content, ref: 'main' })
  expect([status, body.valid]).toEqual([200, false])
  return JSON.stringify(body)
}

test('lint shows a protected variable only to those who may run pipelines on the ref', async () => {
  expect(await faultOf(ana)).toContain(KEPT)
  const fault = await faultOf(dev)
  expect(fault).toContain(PLAIN)
  expect(fault).not.toContain(KEPT)
})

test('lint shows masked values to nobody, and no variables to strangers', async () => {
  for (const who of [ana, dev]) {
    const fault = await faultOf(who)
    expect(fault).toContain('[MASKED]')
    expect(fault).not.toContain(HIDDEN)
  }
  for (const who of [world.nobody, await world.user('stranger')]) {
    const { status, body } = await who.get(lint)
    expect([status, body.valid]).toEqual([200, false])
    expect(JSON.stringify(body)).not.toContain(PLAIN)
    expect(JSON.stringify(body)).not.toContain(HIDDEN)
  }
})

test('a pipeline that cannot be made does not say what is masked', async () => {
  const made = await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
  expect(made.status).toBe(400)
  expect(JSON.stringify(made.body)).toContain('[MASKED]')
  expect(JSON.stringify(made.body)).not.toContain(HIDDEN)
})
