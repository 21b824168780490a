"""The step deploy-judge: brings the judge up, or finds it up."""
