import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { ReceivedFile } from '../registry/receive.ts'
import type { MavenPath } from './path.ts'
import { objectOf, readXml } from './xml.ts'

const MOST_POM = 2 * 1024 * 1024
export const MOST_METADATA = 10 * 1024 * 1024

/** Looks into what Maven itself reads: a pom must be of the artifact it is put at, and metadata must be XML. */
export async function assertReadable(
  ctx: Pick<Ctx, 'files'>,
  path: MavenPath,
  received: ReceivedFile,
): Promise<void> {
  if (path.fileName === 'maven-metadata.xml') {
    if (received.size > MOST_METADATA) throw badRequest('maven-metadata.xml is too large')
    const text = (await ctx.files.read(received.sha256)).toString('utf8')
    if (!('metadata' in readXml(text, 'maven-metadata.xml'))) {
      throw badRequest('maven-metadata.xml has no metadata')
    }
  } else if (path.fileName.endsWith('.pom')) {
    if (received.size > MOST_POM) throw badRequest('The pom is too large')
    assertPom((await ctx.files.read(received.sha256)).toString('utf8'), path)
  }
}

/** A group and a version may come from the parent, or from properties; what stands there itself must fit. */
function assertPom(text: string, path: MavenPath): void {
  const project = objectOf(readXml(text, 'The pom').project)
  const parts = path.name.split('/')
  const expected = {
    artifactId: parts.at(-1) ?? '',
    groupId: parts.slice(0, -1).join('.'),
    version: path.version ?? '',
  }
  for (const [field, value] of Object.entries(expected)) {
    const given = project[field]
    if (typeof given !== 'string' || given.includes('${') || given.trim() === value) continue
    throw badRequest(`The pom is of another artifact: its ${field} is not ${value}`)
  }
}
