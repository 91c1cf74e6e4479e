import { rename } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openClientFolders, runGitClient } from '../../support/git-client.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

const sentence = /^The repository is damaged: its files are missing on the server/

async function projectWithoutFolder(read: boolean): Promise<TestProject> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `lost${count}` })
  if (read) await ana.get(`${project.api}/branches`)
  await rename(project.path, `${project.path}.away`)
  return project
}

test.each([false, true])(
  'a project whose folder is gone is damaged, not empty (read before: %s)',
  async (read) => {
    const project = await projectWithoutFolder(read)
    const reads = [
      'branches',
      'tags',
      'tree',
      'commits/main',
      'files/README.md?ref=main',
      'archive.zip',
    ]
    for (const path of [...reads, `commits/${'a'.repeat(40)}`]) {
      const reply = await ana.get(`${project.api}/${path}`)
      expect([path, reply.status]).toEqual([path, 500])
      expect(reply.body.message).toMatch(sentence)
      expect(JSON.stringify(reply.body)).not.toContain(world.folder)
    }
    const branch = await ana.post(`${project.api}/branches`, { branch: 'new', ref: 'main' })
    expect([branch.status, branch.body.message]).toEqual([500, expect.stringMatching(sentence)])
  },
)

test('clones and pushes get an error that says so', async () => {
  const project = await projectWithoutFolder(false)
  const folders = openClientFolders()
  const folder = await folders.repository()
  const address = new URL(`${world.url}/${project.fullPath}.git`)
  address.username = 'ana'
  address.password = ana.token ?? ''
  for (const args of [
    ['ls-remote', address.href],
    ['push', address.href, 'main'],
  ]) {
    const run = await runGitClient(folder, args)
    expect(run.code).not.toBe(0)
    expect(run.stderr).toContain('the repository is not there any more')
  }
  await folders.clear()
})
