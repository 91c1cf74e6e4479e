import { ciExamples } from '../ci/examples.ts'
import { discussionExamples } from '../discussions/examples.ts'
import { identityExamples } from '../identity/examples.ts'
import { instanceExamples } from '../instance/examples.ts'
import { monitoringExamples } from '../monitoring/examples.ts'
import { notificationExamples } from '../notifications/examples.ts'
import { packageExamples } from '../packages/examples.ts'
import { imageExamples } from '../packages/image-examples.ts'
import { moduleExamples } from '../packages/module-examples.ts'
import { nugetConanExamples } from '../packages/nuget-conan-examples.ts'
import { protocolExamples } from '../packages/protocol-examples.ts'
import { planningExamples } from '../planning/examples.ts'
import { projectExamples } from '../projects/examples.ts'
import { publishingExamples } from '../publishing/examples.ts'
import { repositoryExamples } from '../repositories/examples.ts'
import { reviewExamples } from '../review/examples.ts'
import type { Examples } from './example.ts'

/** A good request for each endpoint that a call without parameters does not answer well. */
export const allExamples: Examples = {
  ...identityExamples,
  ...projectExamples,
  ...repositoryExamples,
  ...discussionExamples,
  ...planningExamples,
  ...reviewExamples,
  ...publishingExamples,
  ...ciExamples,
  ...packageExamples,
  ...protocolExamples,
  ...moduleExamples,
  ...monitoringExamples,
  ...nugetConanExamples,
  ...imageExamples,
  ...notificationExamples,
  ...instanceExamples,
}
