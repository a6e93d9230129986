/** Outputs in a container of Azure Blob Storage. */

export { type AzureContainer, type AzureObjectsOptions, azureObjects } from './azure-objects'
