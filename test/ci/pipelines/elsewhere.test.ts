import { describe, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let count = 0

async function projectOf(files: Record<string, string>, mayRead = true): Promise<TestProject> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `p${count}` })
  if (mayRead) await addMember(world, project, dev, 30)
  commitFiles(project, { files })
  return project
}

async function run(config: string): Promise<Reply> {
  const project = await projectOf({ '.svc-ci.yml': config })
  return await dev.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
}

/** The names of the jobs that a configuration gives; what is wrong with it otherwise. */
async function planned(config: string): Promise<unknown> {
  const reply = await run(config)
  if (reply.status !== 201) return reply.body.message
  const { project_id, id } = reply.body
  const { body } = await dev.get(`/projects/${project_id}/pipelines/${id}/jobs`)
  return (body as { name: string }[]).map(({ name }) => name).sort()
}

describe('rules:exists with a project', () => {
  const config = (exists: string) =>
    `always: {script: make}\nasked: {script: make, rules: [{exists: ${exists}}]}`

  test('looks at the files of that project, at a ref or its default branch', async () => {
    const other = await projectOf({ 'deep/only-there.txt': 'x' })
    commitFiles(other, { ref: 'refs/heads/side', files: { 'side.txt': 'x' }, parents: [] })
    const at = (path: string, more = '') =>
      planned(config(`{paths: ["${path}"], project: ${other.fullPath}${more}}`))
    expect(await at('**/only-there.txt')).toEqual(['always', 'asked'])
    expect(await at('.svc-ci.yml')).toEqual(['always'])
    expect(await at('side.txt')).toEqual(['always'])
    expect(await at('side.txt', ', ref: side')).toEqual(['always', 'asked'])
  })

  test('takes variables, and counts in include:rules', async () => {
    const other = await projectOf({ 'there.txt': 'x' })
    const reply = await planned(`
variables: {WHERE: there}
include:
  - template: Bash.svc-ci.yml
    rules: [{exists: {paths: [gone.txt], project: ${other.fullPath}, ref: $CI_DEFAULT_BRANCH}}]
own: {script: make, rules: [{exists: {paths: [there.txt], project: "${other.fullPath}", ref: $CI_DEFAULT_BRANCH}}]}
`)
    expect(reply).toEqual(['own'])
  })

  test('answers the same for a project that the caller may not read and for an unknown ref', async () => {
    const secret = await projectOf({ 'there.txt': 'x' }, false)
    const open = await projectOf({ 'there.txt': 'x' })
    for (const [path, more] of [
      [secret.fullPath, ''],
      ['no/such', ''],
      [open.fullPath, ', ref: gone'],
    ]) {
      expect(await planned(config(`{paths: [there.txt], project: ${path}${more}}`))).toEqual({
        base: [`rules:exists:project \`${path}\` not found or access denied!`],
      })
    }
  })

  test('refuses a ref without a project, and keys that mean nothing', async () => {
    const refused = async (exists: string) =>
      JSON.stringify(await planned(config(`{paths: [a], ${exists}}`)))
    expect(await refused('ref: main')).toContain('must have a project')
    expect(await refused('file: b')).toContain('unknown keys: file')
    expect(await refused('project: [a, b]')).toContain('should be strings')
  })

  test('looks into twenty projects at most', async () => {
    const other = await projectOf({ 'there.txt': 'x' })
    const head = other.git('rev-parse', 'main').trim()
    const jobs = Array.from({ length: 21 }, (_, at) => {
      const ref = head.slice(0, 40 - at)
      return `j${at}: {script: make, rules: [{exists: {paths: [x], project: ${other.fullPath}, ref: "${ref}"}}]}`
    })
    expect(JSON.stringify(await planned(jobs.join('\n')))).toContain('20 projects at most')
  })
})

describe('versions of components', () => {
  test('are the highest fitting releases, where no ref is called so', async () => {
    const shared = await projectOf({ 'templates/check.yml': 'main: {script: make}' })
    const release = async (tag: string, more = {}) => {
      const job = `"${tag}": {script: make}`
      const id = commitFiles(shared, {
        ref: 'refs/heads/work',
        files: { 'templates/check.yml': job },
      })
      shared.git('tag', tag, id)
      const path = `/projects/${shared.id}/releases`
      expect((await ana.post(path, { tag_name: tag, ...more })).status).toBe(201)
    }
    const version = (asked: string) =>
      planned(`include: {component: $CI_SERVER_FQDN/${shared.fullPath}/check@${asked}}`)
    expect(JSON.stringify(await version('~latest'))).toContain('does not exist!')
    await release('1.10.0')
    await release('1.2.9')
    await release('1.2.10')
    await release('2.0.0-rc.1')
    await release('9.0.0', { released_at: '2099-01-01T00:00:00Z' })
    await release('nightly')
    shared.git('tag', '3.0.0', 'work')
    expect(await version('1')).toEqual(['1.10.0'])
    expect(await version('1.2')).toEqual(['1.2.10'])
    expect(await version('1.2.9')).toEqual(['1.2.9'])
    expect(await version('~latest')).toEqual(['1.10.0'])
    expect(await version('2.0.0-rc.1')).toEqual(['2.0.0-rc.1'])
    expect(await version('main')).toEqual(['main'])
    expect(JSON.stringify(await version('3'))).toContain('does not exist!')
    await release('v1.11.0')
    expect(await version('1')).toEqual(['v1.11.0'])
    shared.git('branch', '1', 'main')
    expect(await version('1')).toEqual(['main'])
  })
})
