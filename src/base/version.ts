import { readFileSync } from 'node:fs'

/** The version of this program, from package.json, which lies two folders above `src/base` and `dist/base` alike. */
export const productVersion: string = readVersion()

function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version)
  }
  throw new Error('package.json names no version')
}

/**
 * The version of the reference platform whose API this is. Renovate, editors, Terraform and others switch features on by
 * comparing it (docs/contract/D §1.26: three dotted numbers, at least 18); it says nothing about this program.
 */
export const apiVersion = '18.9.0'
