import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

test.each(['/version', '/metadata'])(
  '%s answers what this program is, and which API it speaks',
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
