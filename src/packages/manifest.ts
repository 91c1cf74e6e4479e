import { endpointsOf, type Manifest } from '../manifest.ts'
import * as containerRegistry from './container-registry/endpoints.ts'

export const packagesArea: Manifest = {
  name: 'packages',
  endpoints: endpointsOf(containerRegistry),
  tasks: [],
  schedules: [],
  migrations: [],
}
