import { beforeAll, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
})

// 255 bytes are the most that a file's name may have; a ref's lock is five longer than the ref.
const names = ['x'.repeat(251), 'x'.repeat(256), 'ü'.repeat(130), `${'x'.repeat(256)}/y`]

test.each(names)('reading a ref whose name no file can have finds nothing (%#)', async (name) => {
  const ref = encodeURIComponent(name)
  const reads = [
    `/branches/${ref}`,
    `/tags/${ref}`,
    `/commits?ref_name=${ref}`,
    `/commits/${ref}`,
    `/commits/${ref}/diff`,
    `/commits/${ref}/refs`,
    `/tree?ref=${ref}`,
    `/files/README.md?ref=${ref}`,
    `/files/README.md/raw?ref=${ref}`,
    `/files/README.md/blame?ref=${ref}`,
    `/archive.zip?sha=${ref}`,
    `/compare?from=main&to=${ref}`,
    `/merge_base?refs[]=main&refs[]=${ref}`,
    `/contributors?ref=${ref}`,
  ]
  const answers: Record<string, number> = {}
  for (const path of reads) {
    const { status } = await ana.get(`${project.api}${path}`)
    if (status !== 404 && status !== 400) answers[path.replace(ref, '<ref>')] = status
  }
  expect(answers).toEqual({})
})

test.each(names)('such a name is refused where it would be given (%#)', async (name) => {
  const file = { content: 'a', commit_message: 'Add', start_branch: 'main', branch: name }
  const writes = [
    ['branches', { branch: name, ref: 'main' }],
    ['branches', { branch: 'good', ref: name }],
    ['tags', { tag_name: name, ref: 'main' }],
    ['files/new.txt', file],
    ['commits', { ...file, actions: [{ action: 'create', file_path: 'a', content: 'a' }] }],
    ['commits/main/cherry_pick', { branch: name }],
    ['commits/main/revert', { branch: name }],
  ] as const
  const answers: Record<string, number> = {}
  for (const [path, body] of writes) {
    const { status } = await ana.post(`${project.api}/${path}`, body)
    if (status !== 404 && status !== 400) answers[path] = status
  }
  expect(answers).toEqual({})
})

test('the longest names that fit are refs like any other', async () => {
  for (const name of ['x'.repeat(250), `${'y'.repeat(255)}/z`]) {
    const made = await ana.post(`${project.api}/branches`, { branch: name, ref: 'main' })
    expect(made.status).toBe(201)
    const at = `${project.api}/branches/${encodeURIComponent(name)}`
    expect((await ana.get(at)).body.name).toBe(name)
    expect((await ana.delete(at)).status).toBe(204)
  }
})
