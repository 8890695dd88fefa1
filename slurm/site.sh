# What is particular to a cluster; the .sbatch files read it. Keep a copy of your own and name it in VOIRDIRE_SITE.
cd "${SLURM_SUBMIT_DIR:-.}"

# Modules, where Python or CUDA come from them:
# module load cuda/12.8 python/3.11

# The command that starts Python. In a container instead (see slurm/README.md):
# VOIRDIRE_PYTHON="apptainer exec --nv --bind $PWD voirdire.sif python"
VOIRDIRE_PYTHON=${VOIRDIRE_PYTHON:-.venv/bin/python}

# Compute nodes seldom have a network: models and data come from a cache that a login node has filled.
# export HF_HOME=/scratch/$USER/hub
export HF_HUB_OFFLINE=${HF_HUB_OFFLINE:-1}

# A node may be slow to see what another one wrote; Python's own files need not be written at all.
export PYTHONDONTWRITEBYTECODE=1
