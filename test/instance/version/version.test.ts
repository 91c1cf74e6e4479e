import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../../support/world.ts'

let world: World

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

test.each(['/version', '/metadata'])(
  '%s tells what this program is, and which API it speaks',
  async (path) => {
    const manifest = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    )
    const { status, body } = await world.root.get(path)
    expect(status).toBe(200)
    expect(body.product).toEqual({ name: 'Gitstead', version: manifest.version })
    expect(body.enterprise).toBe(false)
    // Clients compare three numbers to know what they may use.
    expect(body.version).toMatch(/^(1[89]|[2-9]\d)\.\d+\.\d+$/)
    expect((await world.nobody.get(path)).status).toBe(401)
  },
)
