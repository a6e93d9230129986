// The meter and the requests of `spillway report`, so that both count alike. They need the built package.

import requestCost from '../../dist/report/request-cost.js'
import requests from '../../dist/report/requests.js'

export const { RequestMeter } = requestCost
export const { requestsOf, tokensOf, tokensOfText } = requests

export const PRICES = { read: 0.1, write: 1.25 }
