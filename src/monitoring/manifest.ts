import { daily, every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import * as alerts from './alerts/endpoints.ts'
import * as images from './alerts/image-endpoints.ts'
import * as notes from './alerts/noteable.ts'
import * as errorReports from './error-ingestion/endpoints.ts'
import * as errorSettings from './error-settings/endpoints.ts'
import * as errors from './errors/endpoints.ts'
import { forgetErrors, forgetSurplusErrors } from './errors/forget.ts'
import { recordReports } from './errors/record-reports.ts'
import * as incidents from './incidents/endpoints.ts'
import { followAlerts } from './incidents/follow-ups.ts'
import * as settings from './incidents/settings.ts'
import { listPayloadFields, testIntegration } from './ingestion/endpoints.ts'
import * as integrations from './integrations/endpoints.ts'

export const monitoringArea: Manifest = {
  name: 'monitoring',
  endpoints: endpointsOf({
    alerts: [alerts, images, notes],
    'alert integrations': [integrations, { listPayloadFields, testIntegration }],
    'error tracking': [errorSettings, errorReports, errors],
    incidents: [incidents, settings],
  }),
  tasks: [followAlerts, recordReports, forgetErrors, forgetSurplusErrors],
  schedules: [daily('3:50', forgetErrors, {}), every(3_600_000, forgetSurplusErrors, {})],
  migrations: [],
}
