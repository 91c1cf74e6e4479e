import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { addProject } from '../../support/project.ts'
import { signedInBrowser } from '../../support/submit-form.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
afterEach(() => world.close())

async function pagesOf(config: { sshPort?: number; sshExternalPort?: number }) {
  world = await openWorld(config)
  const ana = await world.user('ana')
  await addProject(world, ana, 'basic', { path: 'demo' })
  const browser = await signedInBrowser(world, ana)
  const [project, help] = [await browser.get('/ana/demo'), await browser.get('/help')]
  expect([project.status, help.status]).toEqual([200, 200])
  return { project: project.text, help: help.text }
}

test('a project shows its SSH address, and the help page the host keys', async () => {
  const port = await freePort()
  const { project, help } = await pagesOf({ sshPort: port })
  expect(project).toContain(`value="ssh://git@127.0.0.1:${port}/ana/demo.git"`)
  expect(help).toContain(`port ${port}`)
  const { body } = await world.nobody.get('/ssh_host_keys')
  expect(body.host_keys).toHaveLength(2)
  for (const { fingerprint_sha256: shown } of body.host_keys) expect(help).toContain(shown)
})

test('where nobody answers over SSH, no page speaks of it', async () => {
  const { project, help } = await pagesOf({})
  expect(project).not.toContain('over SSH')
  expect(help).not.toContain('over SSH')
})

test('where another server answers over SSH, addresses name its port, and host keys are its own', async () => {
  const { project, help } = await pagesOf({ sshExternalPort: 22 })
  expect(project).toContain('value="git@127.0.0.1:ana/demo.git"')
  expect(help).toContain('over SSH')
  expect(help).not.toContain('SHA256:')
})
