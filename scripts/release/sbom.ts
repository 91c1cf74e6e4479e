// The bill of materials: CycloneDX as npm writes it, cut to what is shipped, with the libraries of C that npm cannot know.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { Library } from './licenses.ts'
import type { Shipped } from './packages.ts'

interface Component {
  readonly name: string
  readonly version: string
  readonly 'bom-ref': string
  readonly externalReferences?: unknown
}

interface Bom {
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
  readonly metadata: Readonly<Record<string, unknown>> & { readonly component: Component }
}

export interface BomOptions {
  readonly packages: readonly Shipped[]
  readonly libraries: readonly Library[]
  /** When the sources were committed: the same sources give the same text. */
  readonly at: Date
}

export function billOfMaterials(root: string, { packages, libraries, at }: BomOptions): string {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const text = execFileSync('npm', args, { cwd: root, env, encoding: 'utf8', maxBuffer: 2 ** 26 })
  const bom: Bom = JSON.parse(text)
  const refs = new Set(packages.map(({ name, version }) => `${name}@${version}`))
  const components = bom.components.filter((one) => refs.has(one['bom-ref']))
  const missing = [...refs].filter((ref) => !components.some((one) => one['bom-ref'] === ref))
  if (missing.length > 0) throw new Error(`npm's bill of materials lacks ${missing.join(', ')}`)
  const own = bom.metadata.component['bom-ref']
  const kept = (ref: string) => refs.has(ref) || ref === own
  const whole = {
    ...bom,
    metadata: {
      ...bom.metadata,
      timestamp: at.toISOString(),
      component: { ...bom.metadata.component, name: 'gitstead', type: 'application' },
    },
    components: [
      // Where npm fetched them from is no part of what they are.
      ...components.map(({ externalReferences: _, ...one }) => one),
      ...libraries.map(ofLibrary),
    ],
    dependencies: bom.dependencies
      .filter(({ ref }) => kept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(kept) })),
  }
  const digest = createHash('sha256').update(JSON.stringify(whole.components)).digest('hex')
  const [a, b, c, d, e] = /(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(digest)?.slice(1) ?? []
  const serialNumber = `urn:uuid:${a}-${b}-5${c}-8${d}-${e}`
  return `${JSON.stringify({ ...whole, serialNumber }, null, 2)}\n`
}

function ofLibrary({ name, version, license }: Library) {
  const isExpression = license.includes(' ')
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:generic/${name}@${version}`,
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
  }
}
